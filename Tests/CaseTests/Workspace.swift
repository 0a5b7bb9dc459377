// A temporary copy of a folder to run commands in, and the words that make two runs comparable.

import Foundation
import TestSupport

/// The repository that these tests were built from.
let repository = URL(fileURLWithPath: #filePath)
  .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

/// A workspace owns its directory, which is removed with it.
final class Workspace {
  struct End {
    let status: Int32
    let output: String
    let errors: String
  }

  let folder: URL
  private let parent: URL

  /// Makes a directory of this name with copies of these files and directories.
  init(named name: String, holding originals: [URL]) throws {
    parent = FileManager.default.temporaryDirectory
      .appending(path: "oprun-case-\(UUID().uuidString)", directoryHint: .isDirectory)
    folder = parent.appending(path: name, directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for original in originals {
      // Cases share a file by links to it.
      let copy = folder.appending(path: original.lastPathComponent)
      try FileManager.default.copyItem(at: original.resolvingSymlinksInPath(), to: copy)
    }
  }

  deinit { try? FileManager.default.removeItem(at: parent) }

  func write(_ text: String, to file: String) throws {
    try text.write(to: folder.appending(path: file), atomically: false, encoding: .utf8)
  }

  /// Runs a line of `sh` in the folder; one that takes twenty minutes is ended, and the
  /// errors say so.
  @discardableResult
  func run(_ line: String, environment: [String: String] = [:]) throws -> End {
    try write(line, to: "../line")
    let script = """
      cd '\(folder.path)' && exec </dev/null >../stdout 2>../stderr || exit
      exec timeout --verbose --kill-after=60 1200 sh ../line
      """
    let child = try Child(
      script: script, environment: environmentOfCases.merging(environment) { $1 })
    return End(
      status: child.wait(), output: try text(of: parent.appending(path: "stdout")),
      errors: try text(of: parent.appending(path: "stderr")))
  }

  /// Replaces everything that differs from run to run by a word: the temporary directory, the id of
  /// a run, process ids and, on the lines that a run prints about itself, measured times.
  func normalised(_ text: String) -> String {
    text.replacing(folder.path(percentEncoded: false).dropLast(), with: "CASE")
      .replacing(/[0-9]{8}-[0-9]{6}-[0-9a-z]+/, with: "RUN")
      .replacing(/^(! .* behind.*: )(.*)$/.anchorsMatchLineEndings()) { match in
        String(match.output.1) + match.output.2.replacing(/\([0-9]+\)/, with: "(PID)")
      }
      .replacing(/^[✓✗!↻…] .*$/.anchorsMatchLineEndings()) {
        withoutTimes($0.output)
      }
      .replacing(/^- .*  (?:stopped after|[0-9]+ ok,) .*$/.anchorsMatchLineEndings()) {
        withoutTimes($0.output)
      }
  }

  /// Removes measured times. Time limits and delays come from the file and stay.
  private func withoutTimes(_ line: Substring) -> Substring {
    line.replacing(/\([^()]* of work.*\)$/, with: "(… of work)")
      .replacing(/(timed out after |attempt [0-9]+ in )?(\b0s|[0-9]+(\.[0-9]+s|ms))/) { match in
        match.output.1 == nil ? "TIME" : match.output.0
      }
  }

  private let environmentOfCases = [
    "PATH": "\(programFolder.path):/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent",
    "LANG": "C.UTF-8", "TERM": "dumb",
  ]

  /// The text of a file. Bytes that are not UTF-8 become U+FFFD; other bytes that a terminal would
  /// obey become symbols.
  private func text(of url: URL) throws -> String {
    String(decoding: try Data(contentsOf: url), as: UTF8.self)
      .replacing("\u{0}", with: "␀").replacing("\u{1B}", with: "␛").replacing("\r\n", with: "␍\n")
      .replacing("\r", with: "␍")
  }
}
