// The real oprun as a separate process, in its own directory.

import Foundation
import TestSupport
import Testing

/// One start of the built program with one pipeline, in its own process group.
final class OprunProcess {
  let folder: URL
  private let child: Child

  /// The command line is read by a shell: `prefix` comes before the program (`exec nohup`,
  /// `ulimit -n 64; exec`), `suffix` behind its arguments.
  init(
    _ pipeline: String, arguments: String = "", prefix: String = "exec", suffix: String = ""
  ) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "oprun-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try pipeline.write(
      to: folder.appending(path: "pipeline.yml"), atomically: false, encoding: .utf8)
    child = try Child(
      script: """
        cd '\(folder.path)' || exit 99
        exec </dev/null >stdout.txt 2>stderr.txt
        # A debug build catches SIGSEGV to print a backtrace, and survives one that was sent.
        export SWIFT_BACKTRACE=enable=no
        \(prefix) '\(Self.program)' pipeline.yml \(arguments) \(suffix)
        """)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  var processID: Int32 { child.processID }

  func send(_ signal: Int32) { kill(processID, signal) }

  /// The exit status as a shell would show it. A run that does not end is ended.
  func wait(sourceLocation: SourceLocation = #_sourceLocation) -> Int32 {
    if !eventually(within: 300, { child.hasEnded }) {
      Issue.record("oprun does not end", sourceLocation: sourceLocation)
      kill(-processID, SIGKILL)
    }
    return child.wait()
  }

  var isRunning: Bool { !child.hasEnded }

  var standardOutput: String { content(of: "stdout.txt") }

  var standardError: String { content(of: "stderr.txt") }

  func exists(_ file: String) -> Bool {
    FileManager.default.fileExists(atPath: folder.appending(path: file).path)
  }

  func content(of file: String) -> String {
    (try? String(contentsOf: folder.appending(path: file), encoding: .utf8)) ?? ""
  }

  static let program = builtProgram("oprun")
}

/// A pipeline with one step that runs a script, indented as YAML wants it; `keys` are lines of the
/// step.
func pipeline(script: String, keys: String = "") -> String {
  let lines = script.split(separator: "\n").map { "      \($0)\n" }.joined()
  let more = keys.split(separator: "\n").map { "    \($0)\n" }.joined()
  return "steps:\n  - id: step\n    run: |\n\(lines)\(more)"
}
