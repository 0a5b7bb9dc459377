// A secret is masked in every form that common tools give it.

import Foundation
import TestSupport
import Testing

@testable import Masking

struct FormTests {
  private func masked(_ text: String, _ secrets: String...) -> String {
    Masker(secrets: secrets.map { Array($0.utf8) })?.mask(text) ?? text
  }

  @Test(arguments: [
    "as it is: p4ss/w+rd? \"é\"", "in JSON: p4ss/w+rd? \\\"é\\\"", "by PHP: p4ss\\/w+rd? \\\"é\\\"",
    "by Python: p4ss/w+rd? \\\"\\u00e9\\\"", "upper: p4ss/w+rd? \\\"\\u00E9\\\"",
    "in an address: p4ss%2Fw%2Brd%3F%20%22%C3%A9%22", "lower: p4ss%2fw%2brd%3f%20%22%c3%a9%22",
    "in a path: p4ss/w%2Brd%3F%20%22%C3%A9%22", "in a form: p4ss%2Fw%2Brd%3F+%22%C3%A9%22",
    "in XML: p4ss/w+rd? &quot;é&quot;", "by number: p4ss/w+rd? &#34;é&#34;",
    "in double quotes: p4ss/w+rd? \\\"é\\\"", "by printf %q: p4ss/w+rd\\?\\ \\\"é\\\"",
  ])
  func `a secret with special characters is masked`(text: String) {
    let label = text.prefix { $0 != ":" }
    #expect(masked(text, "p4ss/w+rd? \"é\"") == "\(label): ***")
  }

  /// These forms are what Python's XML, bash without a locale, and coreutils write for non-ASCII
  /// and unprintable characters.
  @Test(arguments: [
    "gr&#252;n\tje", "gr&#xfc;n\tje", "gr&#xFC;n&#09;je", "gr&#252;n&#9;je",
    #"gr\303\274n\tje"#, #"gr'$'\303\274''n'$'\t''je"#, #"grün'$'\t''je"#,
  ])
  func `characters are masked as numbers, too`(text: String) {
    #expect(masked("<\(text)>", "grün\tje") == "<***>")
  }

  @Test(arguments: [
    "it's <b>&ok</b>", #"it'\''s <b>&ok</b>"#, #"it'"'"'s <b>&ok</b>"#, #"it\'s <b>&ok</b>"#,
    "it&#39;s &lt;b&gt;&amp;ok&lt;/b&gt;", "it&apos;s &lt;b&gt;&amp;ok&lt;/b&gt;",
    "it&#x27;s &lt;b&gt;&amp;ok&lt;/b&gt;", "it's &lt;b>&amp;ok&lt;/b>",
    #"it's \u003cb\u003e\u0026ok\u003c/b\u003e"#,
    #"it\u0027s \u003Cb\u003E\u0026ok\u003C\/b\u003E"#,
    "it's%20%3Cb%3E&ok%3C/b%3E", "it's%20%3Cb%3E%26ok%3C%2Fb%3E",
  ])
  func `quotes and markup are masked however they are escaped`(text: String) {
    #expect(masked("<\(text)>", "it's <b>&ok</b>") == "<***>")
  }

  /// As mustache.js, Handlebars, Underscore, OWASP, Askama, Dart and validator.js write it.
  @Test(arguments: [
    "EMI&#x2F;K7&#x60;x&#x3D;&#x3D;", "EMI/K7&#x60;x&#x3D;&#x3D;",
    "EMI/K7&#x60;x==", "EMI&#x2F;K7`x==", "EMI&#x2f;K7`x==", "EMI&#47;K7`x==",
    "EMI&#x2F;K7&#96;x==",
  ])
  func `templates escape what no other HTML does`(text: String) {
    #expect(masked("<\(text)>", "EMI/K7`x==") == "<***>")
  }

  /// CSV, .NET, and a URL as a browser shows it: its path, its query.
  @Test(arguments: [
    "a\"\"b ([c]|`d)", "a%22b+(%5bc%5d%7c%60d)", "a%22b%20([c]|%60d)", "a%22b%20([c]|`d)",
  ])
  func `tables and addresses keep characters that others escape`(text: String) {
    #expect(masked("<\(text)>", "a\"b ([c]|`d)") == "<***>")
  }

  /// In the id of an instance, in the JSON of an output, and in a condition.
  @Test(arguments: [
    #"m[x=té's\u{200b}\t\u{8}"t]"#, #"m[x=té's\u200b\t\u0008\"t]"#,
    #"m[x=té''s\u200b\t\u0008\"t]"#, "m[x=té''s\u{200b}\t\u{8}\"t]",
  ])
  func `what oprun escapes is masked`(text: String) {
    #expect(masked(text, "té's\u{200b}\t\u{8}\"t") == "m[x=***]")
  }

  @Test func `base 64 is masked wherever it begins, but for what it shares with its neighbours`() {
    var dice = SeededGenerator(seed: 4)
    for length in 4...40 {
      let secret = (0..<length).map { _ in UInt8.random(in: 33...126, using: &dice) }
      guard let masker = Masker(secrets: [secret]) else { continue }
      for before in 0...6 {
        for after in 0...3 {
          let text =
            Array(repeating: UInt8(ascii: "<"), count: before) + secret
            + Array(repeating: UInt8(ascii: ">"), count: after)
          let encoded = Data(text).base64EncodedString()
          for shown in [encoded, encoded.replacing("+", with: "-").replacing("/", with: "_")] {
            let result = masker.mask(shown)
            let parts = result.components(separatedBy: "***")
            #expect(parts.count == 2, "\(result)")
            #expect(parts[0].count <= before * 8 / 6 + 1 && parts[1].count <= after * 8 / 6 + 4)
          }
        }
      }
    }
  }

  @Test func `base 64 of a secret alone leaves nothing`() {
    for secret in ["abcd", "hunter2", "12345678", String(repeating: "long secret ", count: 20)] {
      for text in [secret, secret + "\n"] {
        let data = Data(text.utf8)
        let wrapped = data.base64EncodedString(options: [
          .lineLength76Characters, .endLineWithLineFeed,
        ])
        let pem = data.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        for shown in [data.base64EncodedString(), wrapped, pem] {
          #expect(masked(shown, secret) == "***")
          let unpadded = String(shown.prefix { $0 != "=" })
          #expect(masked(unpadded, secret) == "***")
        }
      }
    }
  }

  @Test func `every line of a secret with several lines is masked, but for the shortest`() throws {
    let key = "-----BEGIN KEY-----\nMIIEow\r\n  indented line\nab\n\n}\n-----END KEY-----"
    #expect(masked("<\(key)>", key) == "<***>")
    #expect(masked("a MIIEow b", key) == "a *** b")
    #expect(masked("indented line, ab, }", key) == "***, ab, }")
    #expect(masked("  indented line", key) == "  ***")
    let json = String(decoding: try JSONEncoder().encode(["k": key]), as: UTF8.self)
    #expect(masked(json, key) == #"{"k":"***"}"#)
  }

  @Test func `a line of blanks is no secret`() {
    #expect(masked("a      b, secret line", "      \nsecret line") == "a      b, ***")
  }

  @Test func `secrets that overlap or hold each other leave no remains`() {
    #expect(masked("abcdefgh", "abcdef", "cdefgh") == "***")
    #expect(masked("abcdefgh abcd", "abcd", "abcdefgh") == "*** ***")
    #expect(masked("abcdabcd", "abcd") == "******")
  }

  @Test func `without a secret of at least four characters there is no masker`() {
    #expect(Masker(secrets: []) == nil)
    #expect(Masker(secrets: [Array("abc".utf8), Array("äöü".utf8)]) == nil)
    #expect(masked("äöüß", "äöüß") == "***")
  }

  @Test func `the forms of many special characters are few`() {
    let special = "<>&'\"+`=/\\\u{7f}\té"
    let long = Array(String(repeating: special, count: (60 << 10) / special.utf8.count).utf8)
    let other = Array(long.reversed().filter { $0 < 0x80 })
    let forms = SecretForms(of: [long, other, Array("a<b>'c\"".utf8)], withLines: true)
    let size = forms.texts.union(forms.broken).reduce(0) { $0 + $1.count }
    #expect(size < 12 << 20, "\(size)")
    let shown = String(decoding: long, as: UTF8.self)
    let masker = Masker(secrets: [long, other, Array("a<b>'c\"".utf8)])
    let text = [
      shown, Data(long).base64EncodedString(), #"a\u003Cb\u003E\u0027c\""#, "a&lt;b&gt;&#39;c&#34;",
    ]
    #expect(text.map { masker?.mask($0) ?? "" } == ["***", "***", "***", "***"])
  }

  @Test func `a long secret costs memory in proportion`() throws {
    var dice = SeededGenerator(seed: 5)
    let secret = (0..<(16 << 10)).map { _ in UInt8.random(in: 33...126, using: &dice) }
    let masker = try #require(Masker(secrets: [secret]))
    #expect(masker.mask("x" + String(decoding: secret, as: UTF8.self) + "y") == "x***y")
  }
}
