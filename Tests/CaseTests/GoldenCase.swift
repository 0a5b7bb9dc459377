// One directory under Tests/Cases: what is run there, and the expected output.

import Foundation
import Testing

/// A case is a folder named after what it shows. It holds
/// - `pipeline.yml`, and whatever other files the case needs (all are copied; a link becomes a copy of what it leads to),
/// - `args`: what follows `oprun` on a command line of `sh`; or `command`: the whole line,
/// - `expected.txt`: exit status, standard output, standard error, and what `after.sh` prints.
///
/// Optional: `stdin`; `env` (`NAME=value` lines); `setup.sh`, run before; `after.sh`, run after.
struct GoldenCase: Sendable, CustomTestStringConvertible {
  let name: String
  let folder: URL

  var testDescription: String { name }

  var expectedFile: URL { folder.appending(path: "expected.txt") }

  var expected: String? { try? String(contentsOf: expectedFile, encoding: .utf8) }

  /// Every case, sorted by name.
  static let all: [GoldenCase] = {
    let root = repository.appending(path: "Tests/Cases", directoryHint: .isDirectory)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: root.path)) ?? []
    return names.sorted().map { GoldenCase(name: $0, folder: root.appending(path: $0)) }
  }()

  /// Runs the case in a copy of its folder, and returns what was seen in the form of the file.
  func run() throws -> String {
    let workspace = try Workspace(
      named: name,
      holding: FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil))
    let line = try text(of: "command") ?? "oprun " + (text(of: "args") ?? "")
    let environment = try variables(in: text(of: "env") ?? "")
    if has("setup.sh") { try workspace.run("sh -e setup.sh", environment: environment) }
    let input = has("stdin") ? " <stdin" : ""
    let end = try workspace.run(line + input, environment: environment)
    var seen = "exit \(end.status)\n"
    seen += section("stdout", end.output) + section("stderr", end.errors)
    if has("after.sh") {
      let after = try workspace.run("sh -e after.sh 2>&1", environment: environment)
      seen += section("after", after.output)
    }
    return workspace.normalised(seen)
  }

  func has(_ file: String) -> Bool {
    FileManager.default.fileExists(atPath: folder.appending(path: file).path)
  }

  private func text(of file: String) throws -> String? {
    guard has(file) else { return nil }
    return try String(contentsOf: folder.appending(path: file), encoding: .utf8).trimmingCharacters(
      in: .newlines)
  }

  private func variables(in lines: String) -> [String: String] {
    var variables: [String: String] = [:]
    for line in lines.split(separator: "\n") {
      let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      variables[String(parts[0])] = parts.count > 1 ? String(parts[1]) : ""
    }
    return variables
  }

  private func section(_ title: String, _ text: String) -> String {
    guard !text.isEmpty else { return "" }
    return "--- \(title)\n\(text)" + (text.hasSuffix("\n") ? "" : "\n--- (no newline at the end)\n")
  }
}
