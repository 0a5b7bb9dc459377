// Detects in the output of a script that it was written for another shell than the one that ran it.
// A script goes on after `[[` in a condition, so this is done after a success, too.

import Diagnostics
import RunFiles

enum ShellAdvice {
  /// The number of bytes at the end of a log that are read.
  private static let reach = 4096

  /// The complaints of dash, after its name and a line number, about words that only bash knows;
  /// and the signs of such a script.
  private static let complaints: [Substring: [String]] = [
    "[[: not found": ["[[ "], "source: not found": ["source "],
    "function: not found": ["function "], "declare: not found": ["declare "],
    "shopt: not found": ["shopt "], "mapfile: not found": ["mapfile "],
    "readarray: not found": ["readarray "], "pushd: not found": ["pushd "],
    "popd: not found": ["popd"], "set: Illegal option -o pipefail": ["pipefail"],
    "Bad substitution": ["^}", ",}", "]}", "${!", "//"],
    "Syntax error: \"(\" unexpected": ["=(", "<(", ">(", "function "],
    "Syntax error: redirection unexpected": ["<<<", "<(", "&>"],
    "Syntax error: Bad for loop variable": ["(("],
  ]

  private static let roots = ["params", "matrix", "steps", "vars", "env"]

  /// The advice about a script that `sh` ran; nil if nothing in its log calls for any.
  static func words(about log: LogFile, of script: String) -> String? {
    if log.size == 0 { return nil }
    var bytes = [UInt8](repeating: 0, count: min(reach, log.size))
    let start = log.size - bytes.count
    let count = bytes.withUnsafeMutableBytes { log.read(at: start, into: $0) }
    for line in bytes.prefix(count).split(separator: 0x0a) where isOfShell(line) {
      if let words = words(about: String(decoding: line, as: UTF8.self), of: script) {
        return words
      }
    }
    return nil
  }

  private static func isOfShell(_ line: ArraySlice<UInt8>) -> Bool {
    // A plain `sh` was started by the script, or by a program of it.
    line.starts(with: "/bin/sh: ".utf8)
  }

  /// The advice about a line such as `/bin/sh: 3: [[: not found`. Programs that a script calls,
  /// such as make, run scripts, too.
  static func words(about line: String, of script: String? = nil) -> String? {
    guard let name = line.firstRange(ofText: "sh: ") else { return nil }
    let rest = line[name.upperBound...]
    let number = rest.prefix { $0.isASCII && $0.isNumber }
    guard !number.isEmpty, rest[number.endIndex...].hasPrefix(": ") else { return nil }
    let complaint = rest[number.endIndex...].dropFirst(2)
    if let signs = complaints[complaint] {
      if let script, !signs.contains(where: { script.containsText($0) }) { return nil }
      return "this script was run by sh; 'shell: bash' runs it with bash"
    }
    guard complaint.hasSuffix(": not found"), let dot = complaint.firstIndex(of: "."),
      roots.contains(String(complaint[..<dot]))
    else { return nil }
    let expression = complaint.dropLast(": not found".count)
    if let script, !script.containsText("(\(expression)") { return nil }
    return "an expression is written ${{ \(expression) }}"
  }
}
