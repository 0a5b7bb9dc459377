// A directory with programs that print the words they were started with, and shells to start them.

import Foundation
import TestSupport

/// A sandbox owns a directory, which is removed with it. Lines run in `root`, inside it, so that
/// `..` stays in it.
final class ShellSandbox {
  let root: String
  private let folder: URL
  private let programs: String

  init() throws {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "command-lines-\(UUID().uuidString)", directoryHint: .isDirectory)
    self.folder = folder
    root = folder.appending(path: "work").path(percentEncoded: false)
    programs = root + "/programs"
    try FileManager.default.createDirectory(atPath: programs, withIntermediateDirectories: true)
    // A file that some process has open for writing cannot be executed, and what another test
    // starts just now would inherit ours: so a child writes it.
    let probe = try Child(
      script: """
        cat >'\(root)/probe' <<'EOF'
        #!/bin/sh
        printf '%s\\0' "$#" "${0#"\(programs)/"}" "$@"
        EOF
        chmod +x '\(root)/probe'
        """)
    _ = probe.wait()
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// Makes the name, or the path relative to the folder, run the probe.
  func addProbe(named name: String) throws {
    let path =
      if name.hasPrefix("/") { name } else if name.contains("/") { "\(root)/\(name)" } else {
        "\(programs)/\(name)"
      }
    try FileManager.default.createDirectory(
      atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    if !FileManager.default.fileExists(atPath: path) {
      try FileManager.default.createSymbolicLink(
        atPath: path, withDestinationPath: root + "/probe")
    }
  }

  /// The words that reached a probe, for each line passed to a separate shell with `-c`.
  func runEach(_ lines: [String], with shell: Shell) throws -> [[String]] {
    let input = lines.map { $0 + "\0" }.joined()
    try input.write(toFile: root + "/lines", atomically: false, encoding: .utf8)
    return try run("/usr/bin/xargs -0 -n 1 -a lines \(shell) -e -c")
  }

  /// The words that reached a probe, for each line of one script.
  func runScript(_ head: String, _ lines: [String], with shell: Shell) throws -> [[String]] {
    let script = ([head] + lines).joined(separator: "\n") + "\n"
    try script.write(toFile: root + "/script", atomically: false, encoding: .utf8)
    return try run("\(shell) script")
  }

  private func run(_ line: String) throws -> [[String]] {
    let child = try Child(
      script: "cd '\(root)' && exec \(line) </dev/null >../stdout",
      environment: ["PATH": programs, "LC_ALL": "C.UTF-8", "HOME": "/home-of-nobody"])
    _ = child.wait()
    return records(in: try Data(contentsOf: folder.appending(path: "stdout")))
  }

  /// Each record is the number of arguments, the program and its arguments, all ended by NUL.
  private func records(in bytes: Data) -> [[String]] {
    let fields = bytes.split(separator: 0, omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    var records: [[String]] = []
    var index = 0
    while index < fields.count, let count = Int(fields[index]), index + count + 1 < fields.count {
      records.append(Array(fields[(index + 1)...(index + 1 + count)]))
      index += count + 2
    }
    return records
  }
}
