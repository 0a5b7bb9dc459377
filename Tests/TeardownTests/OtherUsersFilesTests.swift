// Reports in the place of files that belong to somebody else. The tests need root, to be two users.

import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct `A report in the place of a file of another user` {
  /// Runs oprun as nobody, who is in the group 2000, and returns how it ended, and the mode, owner and group of the file
  /// afterwards. The file belongs to 1234.
  private func run(
    _ file: String, group: Int, mode: String, folderMode: String
  ) throws -> (status: Int32, access: String, content: String) {
    let oprun = try OprunProcess(
      "steps: [{id: a, run: echo said}]",
      arguments: "--state-dir state/.oprun --output quiet --junit files/\(file)",
      prefix: """
        chmod 755 .; mkdir -m 777 state; mkdir files; echo before >files/\(file)
        chown 1234:\(group) files/\(file); chmod \(mode) files/\(file); chmod \(folderMode) files
        exec setpriv --reuid=65534 --regid=65534 --groups=2000 --
        """)
    let status = oprun.wait()
    let path = oprun.folder.appending(path: "files/\(file)")
    let attributes = try FileManager.default.attributesOfItem(atPath: path.path)
    let bits = attributes[.posixPermissions] as? Int ?? 0
    let owner = attributes[.ownerAccountID] as? Int ?? 0
    let groupOwner = attributes[.groupOwnerAccountID] as? Int ?? 0
    return (
      status, "\(String(bits, radix: 8)) \(owner):\(groupOwner)",
      try String(contentsOf: path, encoding: .utf8)
    )
  }

  @Test func `keeps its group, of which the writer is a member`() throws {
    let seen = try run("r.xml", group: 2000, mode: "660", folderMode: "777")
    #expect(seen.status == 0 && seen.content.contains("<testcase"))
    #expect(seen.access == "660 65534:2000")
  }

  @Test func `gives nothing to the group of the writer that another group had`() throws {
    let seen = try run("r.xml", group: 3000, mode: "666", folderMode: "777")
    #expect(seen.status == 0 && seen.content.contains("<testcase"))
    #expect(seen.access == "606 65534:65534")
  }

  @Test func `is written to it where it cannot be replaced`() throws {
    for folderMode in ["1777", "755"] {
      let seen = try run("r.xml", group: 3000, mode: "666", folderMode: folderMode)
      #expect(seen.status == 0 && seen.content.contains("<testcase"))
      #expect(!seen.content.contains("before") && seen.access == "666 1234:3000")
    }
  }
}
