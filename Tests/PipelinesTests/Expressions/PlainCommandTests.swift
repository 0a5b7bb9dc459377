// The short way for plain commands against the scanner: both must say the same.

import Testing

@testable import Pipelines

@Suite struct `Plain commands` {
  private static let names = [
    "echo", "make", "./run.sh", "declare", "eval", "test", "[", "case", "if", "a=b", "export",
    "printf", "/bin/sh", "/usr/bin/env", "docker",
    "swift", "env", "for", "read", "sudo", "true", "\u{1}", "x",
  ]
  private static let parts = [
    "a", "-n", "--b=c", "1", "/x.y", "@", "in", "a:b", "x,y", "%", "+", "in", "-eq", "a=", "\u{1}",
    "\u{1}z",
    "bash", "-c", "q\u{1}", "=\u{1}", "-\u{1}",
  ]

  /// The control character stands for a value.
  private func marked(_ text: String) -> [UInt8] {
    text.utf8.map { $0 == 1 ? valueMark : $0 }
  }

  /// What stands around the values.
  private func pieces(_ text: [UInt8]) -> [ArraySlice<UInt8>] {
    text.split(separator: valueMark, omittingEmptySubsequences: false)
  }

  @Test func `what is taken for plain is plain to the scanner too`() {
    var random = SystemRandomNumberGenerator()
    var plainCount = 0
    for _ in 0..<5000 {
      var words = [Self.names.randomElement(using: &random) ?? ""]
      for _ in 0..<Int.random(in: 0..<6, using: &random) {
        words.append(Self.parts.randomElement(using: &random) ?? "")
      }
      let text = marked(words.joined(separator: Bool.random() ? " " : "  "))
      guard isPlainCommand(pieces(text)) else { continue }
      plainCount += 1
      var scanner = ShellScanner(text)
      scanner.scan()
      #expect(
        scanner.places == text.filter { $0 == valueMark }.map { _ in ShellPlace() }
          && scanner.lines.isEmpty && scanner.commandWords.isEmpty, "\(words)")
    }
    #expect(plainCount > 500)
  }

  @Test func `any sign of the shell needs the scanner`() {
    for sign in "$`\"'\\;&|<>()#*?[]{}~!\n\t^" {
      #expect(!isPlainCommand(pieces(marked("echo \u{1} a\(sign)b"))), "\(sign)")
    }
    #expect(isPlainCommand(pieces(marked("echo \u{1} a-b"))))
  }
}
