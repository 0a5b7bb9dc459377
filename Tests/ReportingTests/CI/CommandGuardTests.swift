import Testing

@testable import Reporting

@Suite struct `Text beside a CI runner` {
  static let all: CommandGuard.Rules = [.brackets, .colons, .headings]

  @Test(arguments: [
    ("::error::x", ": :error::x"), ("  ::error::x", "  : :error::x"),
    ("a ::error::x", "a ::error::x"),
    ("\u{200B}::error::x", "\u{200B}: :error::x"), (":\u{AD}:error::x", ":\u{AD} :error::x"),
    ("a\r::error::", "a\r: :error::"), ("a\n::error::", "a\n: :error::"),
    ("##[error]x", "## [error]x"), ("a ##[error]x", "a ## [error]x"), ("###[error]", "### [error]"),
    ("#\u{AD}#[error]", "#\u{AD}# [error]"), ("# #[error]", "# #[error]"),
    ("##vso[task.complete]", "##vso [task.complete]"), ("##v\u{200B}so[x", "##v\u{200B}so [x"),
    ("##teamcity[x", "##teamcity [x"), ("##1[x", "##1[x"), ("## [x", "## [x"), ("#[x", "#[x"),
    ("--- a", "-- - a"), ("+++ a", "++ + a"), ("~~~ a", "~~ ~ a"), ("^^^ +++", "^^ ^ +++"),
    ("-- a", "-- a"), (" --- a", " --- a"), ("a --- b", "a --- b"), ("-+- a", "-+- a"),
    ("\u{1B}[31m--- a", "\u{1B}[31m-- - a"), ("\u{1B}[1m::x", "\u{1B}[1m: :x"),
    ("\u{2}::error::x\n::error::x", "::error::x\n: :error::x"), ("a\u{2}::x", "a\u{2}::x"),
  ])
  func `what a runner would obey is broken`(text: String, harmless: String) {
    #expect(CommandGuard.harmless(text, Self.all) == harmless)
  }

  @Test func `each rule by itself leaves what others break`() {
    let text = "::a::\n##[b]\n--- c\n"
    #expect(CommandGuard.harmless(text, .colons) == ": :a::\n##[b]\n--- c\n")
    #expect(CommandGuard.harmless(text, .brackets) == "::a::\n## [b]\n--- c\n")
    #expect(CommandGuard.harmless(text, .headings) == "::a::\n##[b]\n-- - c\n")
    #expect(CommandGuard.harmless(text, []) == text)
  }

  @Test func `it does not matter where text is split`() {
    let text = Array("a\n::error::x ##[b] \u{1B}[31m+++ c\r\n##vso[d]\n".utf8)
    let whole = CommandGuard.harmless(String(decoding: text, as: UTF8.self), Self.all)
    for position in text.indices {
      var stream = CommandGuard(Self.all)
      var result: [UInt8] = []
      text[..<position].withUnsafeBytes { stream.pass($0, into: &result) }
      text[position...].withUnsafeBytes { stream.pass($0, into: &result) }
      #expect(String(decoding: result, as: UTF8.self) == whole)
    }
  }
}
