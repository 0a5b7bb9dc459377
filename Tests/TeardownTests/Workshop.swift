// A folder in which tools compile, and count how many of them do so at once.

import Foundation
import TestSupport

/// A folder with a compiler, `./cc NAME`, that compiles nothing. The first ones wait until as many run as
/// are wanted, at most some minutes; then each takes a moment, in which one that is too many would be seen.
struct Workshop {
  let folder: URL

  /// Makes the folder; the first compilers wait until this many run at once.
  init(waitingFor wanted: Int, files: [String: String] = [:]) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "jobs-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try write(Workshop.compiler, to: "cc", isProgram: true)
    try write("\(wanted)", to: "wanted")
    for name in ["running", "peak"] { try write("0", to: name) }
    for (name, content) in files { try write(content, to: name) }
  }

  /// Runs a script in the folder; returns its exit status. `oprun` in it is the program.
  func run(_ script: String) throws -> Int32 {
    try Child(
      script: """
        cd '\(folder.path)' || exit 99
        unset MAKEFLAGS MFLAGS MAKELEVEL
        export PATH="\(Workshop.programs):$PATH"
        exec </dev/null >out.txt 2>&1
        \(script)
        """
    ).wait()
  }

  /// How many compilers have run at once.
  var peak: Int { Int(content(of: "peak").trimmingCharacters(in: .whitespacesAndNewlines)) ?? -1 }

  var output: String { content(of: "out.txt") }

  func content(of name: String) -> String {
    (try? String(contentsOf: folder.appending(path: name), encoding: .utf8)) ?? ""
  }

  func write(_ content: String, to name: String, isProgram: Bool = false) throws {
    let file = folder.appending(path: name)
    try content.write(to: file, atomically: false, encoding: .utf8)
    if isProgram { chmod(file.path, 0o755) }
  }

  func remove() { try? FileManager.default.removeItem(at: folder) }

  /// GNU make 4.4 and ninja 1.13, which `Scripts/setup` installs.
  static let tools: String = {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
    let folder = root.standardizedFileURL.appending(path: ".build/test-tools/bin").path
    precondition(
      FileManager.default.isExecutableFile(atPath: folder + "/ninja"),
      "run Scripts/setup: there is no \(folder)/ninja")
    return folder
  }()

  private static let programs = programFolder.path

  private static let compiler = """
    #!/bin/sh
    here=$(dirname "$0")
    change() {
      (
        flock 9
        n=$(($(cat running) + $1))
        echo $n >running
        [ $n -le $(cat peak) ] || echo $n >peak
      ) 9>lock
    }
    cd "$here" || exit 1
    change 1
    waited=0
    while [ "$(cat peak)" -lt "$(cat wanted)" ] && [ $waited -lt 10000 ]; do
      sleep 0.02
      waited=$((waited + 1))
    done
    sleep 0.1
    change -1

    """
}

extension Workshop {
  /// A makefile and a file for ninja with this many things to compile.
  static func build(_ count: Int, named name: String) -> [String: String] {
    let targets = (1...count).map { "\(name)\($0)" }
    return [
      "\(name).mk": """
      all: \(targets.joined(separator: " "))
      \(targets.joined(separator: " ")): ; @[ -e enough ] || ./cc $@

      """,
      "\(name).ninja": """
      rule cc
        command = ./cc $out
      \(targets.map { "build \($0): cc\n" }.joined())
      """,
    ]
  }
}
