// The directories in which a missing program was looked for, and the program that was probably
// meant.

import Diagnostics
import Glibc

struct ProgramSearch: Hashable {
  /// The directories of `PATH`, as bytes: they need not be UTF-8.
  var directories: [[UInt8]] = []

  /// The shortest name that is corrected: shorter ones are close to too many programs.
  private static let shortestName = 3

  /// ` (PATH is /opt/bin:/bin)`; empty if the command has the `PATH` of oprun, which people know.
  var place: String {
    let path = String(decoding: Array(directories.joined(separator: ":".utf8)), as: UTF8.self)
    let inherited = environmentValue("PATH") ?? "/bin:/usr/bin"
    return directories.isEmpty || path == inherited ? "" : " (PATH is \(printable(path)))"
  }

  /// The program in one of the directories whose name is closest.
  func program(closestTo name: String) -> String? {
    guard name.utf8.count >= Self.shortestName else { return nil }
    var names: Set<String> = []
    for directory in directories { Self.add(directory, to: &names) }
    // With two slips allowed, most names are close to one of some thousand programs.
    return suggestion(for: name, among: names.sorted()).flatMap { found in
      editDistance(Array(name.utf8), Array(found.utf8), atMost: 1) == nil ? nil : found
    }
  }

  private static func add(_ directory: [UInt8], to names: inout Set<String>) {
    let list = (directory + [0]).withUnsafeBytes { bytes in
      bytes.bindMemory(to: CChar.self).baseAddress.flatMap { opendir($0) }
    }
    guard let list else { return }
    defer { closedir(list) }
    while let entry = readdir(list) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { field in
        field.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if faccessat(dirfd(list), name, X_OK, 0) == 0 { names.insert(name) }
    }
  }
}
