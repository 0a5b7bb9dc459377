// A separate folder for each test, in which the program runs.

import Foundation
import TestSupport

@testable import oprun_steps

/// The result of a run of the program.
struct ProgramEnd {
  let status: Int32
  let output: String
  let errors: String
}

final class Workspace: Sendable {
  let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(
      path: "oprun-steps-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// Runs the built program with its own cache. Words are quoted for the shell.
  func run(_ words: String..., environment: [String: String] = [:]) throws -> ProgramEnd {
    try run(words: words, environment: environment)
  }

  func run(words: [String], environment: [String: String] = [:]) throws -> ProgramEnd {
    try start(words: words, environment: environment).wait()
  }

  func start(
    program: String = "oprun-steps", words: [String], environment: [String: String] = [:],
    openFiles: Int? = nil
  ) throws -> RunningProgram {
    let mark = UUID().uuidString
    let variables = environment.map { "export \($0)=\(quotedForShell($1))" }.sorted()
    let child = try Child(
      script: """
        cd \(quotedForShell(folder.path)) || exit 99
        unset http_proxy https_proxy HTTPS_PROXY all_proxy ALL_PROXY no_proxy NO_PROXY OPRUN_OUTPUT OPRUN_STEP
        unset CURL_CA_BUNDLE SSL_CERT_FILE SSL_CERT_DIR
        \(openFiles.map { "ulimit -n \($0)" } ?? "")
        export OPRUN_DOWNLOAD_CACHE=cache HOME="$PWD" SWIFT_BACKTRACE=enable=no
        \(variables.joined(separator: "\n"))
        exec </dev/null >out.\(mark) 2>err.\(mark)
        exec \(quotedForShell(builtProgram(program))) \(words.map(quotedForShell).joined(separator: " "))
        """)
    return RunningProgram(child, self, mark)
  }

  func path(_ name: String) -> String { folder.appending(path: name).path }

  func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }

  func content(_ name: String) -> String {
    String(decoding: FileManager.default.contents(atPath: path(name)) ?? Data(), as: UTF8.self)
  }

  func write(_ text: String, to name: String) throws {
    let file = folder.appending(path: name)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try text.write(to: file, atomically: false, encoding: .utf8)
  }

  /// All files except those of the cache and of the test itself.
  var files: [String] {
    let all = FileManager.default.enumerator(atPath: folder.path)?.allObjects as? [String] ?? []
    return all.filter { name in
      let isOurs = name.hasPrefix("cache") || name.hasPrefix("out.") || name.hasPrefix("err.")
      return !Files.isFolder(path(name)) && !isOurs
    }.sorted()
  }
}

/// A start of the program, in its own process group.
final class RunningProgram {
  private let child: Child
  private let workspace: Workspace
  private let mark: String

  init(_ child: Child, _ workspace: Workspace, _ mark: String) {
    self.child = child
    self.workspace = workspace
    self.mark = mark
  }

  var processID: Int32 { child.processID }

  /// Waits for the end. Times and other things that differ between runs are replaced.
  func wait() -> ProgramEnd {
    let status = child.wait()
    return ProgramEnd(
      status: status, output: normalised(workspace.content("out.\(mark)")),
      errors: normalised(workspace.content("err.\(mark)")))
  }

  private func normalised(_ text: String) -> String {
    text.replacing(/\b[0-9.]+m?s\b/, with: "TIME").replacing(/127\.0\.0\.1:[0-9]+/, with: "SERVER")
      .replacing(/[ ]{2,}/, with: "  ")
  }
}

func quotedForShell(_ text: String) -> String {
  "'" + text.replacingOccurrences(of: "'", with: "'\\''") + "'"
}
