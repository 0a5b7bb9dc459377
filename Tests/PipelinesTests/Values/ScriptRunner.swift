// Runs many small scripts, each in a separate shell, and records which of them ran `canary` and
// with what words they called `p`.

import Foundation
import TestSupport
import Testing

/// A runner owns a directory, which is removed with it. Scripts run inside it and find only our
/// programs.
final class ScriptRunner {
  /// What one script did.
  struct Trace: Equatable {
    var ranCanary = false
    /// The arguments of each call of `p`.
    var calls: [[String]] = []
  }

  private let folder: URL

  /// Both are functions and programs, and write to descriptor 9, which no substitution takes. One
  /// canary is enough, so a loop of them ends.
  private static let probes = """
    p() { printf '%s\\0' "$#" p "$@" >&9; }
    canary() { printf '%s\\0' 0 canary >&9; exit 3; }

    """
  private static let programs = """
    mkdir -p programs work scripts
    for name in p canary; do
      { echo '#!/bin/sh'; printf '%s\\n' "$PROBES" "$name"' "$@"'; } >programs/$name
      chmod +x programs/$name
    done
    """

  init() throws {
    folder = FileManager.default.temporaryDirectory
      .appending(path: "scripts-\(UUID().uuidString)", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try sh(Self.programs, environment: ["PROBES": Self.probes, "PATH": "/usr/bin:/bin"])
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private func sh(_ script: String, environment: [String: String]) throws {
    let place = folder.path(percentEncoded: false)
    let child = try Child(
      script: "cd '\(place)' && { \(script)\n} 2>errors", environment: environment)
    let status = child.wait()
    let errors = try String(contentsOf: folder.appending(path: "errors"), encoding: .utf8)
    try #require(status == 0, "the scripts could not be run: status \(status) \(errors)")
  }

  /// What each script did; `head` comes first in every one.
  func run(_ scripts: [String], head: String = "", with shell: Shell) throws -> [Trace] {
    for (number, script) in scripts.enumerated() {
      try (Self.probes + head + script).write(
        to: folder.appending(path: "scripts/\(number)"), atomically: false, encoding: .utf8)
    }
    let driver = """
      exec 9>output; cd work; i=0
      while [ $i -lt \(scripts.count) ]; do
        printf '%s\\0' 0 begin >&9
        (ulimit -t 5; exec \(shell) -e ../scripts/$i) </dev/null >/dev/null 2>&1
        i=$((i+1))
      done
      """
    let programs = folder.appending(path: "programs").path(percentEncoded: false)
    try sh(driver, environment: ["PATH": programs, "LC_ALL": "C.UTF-8", "HOME": "/nowhere"])
    return traces(in: try Data(contentsOf: folder.appending(path: "output")))
  }

  /// Each record is the number of arguments, a name and the arguments, all ended by NUL.
  private func traces(in bytes: Data) -> [Trace] {
    let fields = bytes.split(separator: 0, omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    var traces: [Trace] = []
    var index = 0
    while index + 1 < fields.count, let count = Int(fields[index]) {
      let arguments = Array(fields[(index + 2)..<min(index + 2 + count, fields.count)])
      switch fields[index + 1] {
      case "begin": traces.append(Trace())
      case "canary": traces[traces.count - 1].ranCanary = true
      default: traces[traces.count - 1].calls.append(arguments)
      }
      index += 2 + count
    }
    return traces
  }
}
