// Secrets in the output of real tools: Base64 and hexadecimal, broken into lines or not.

import Foundation
import TestSupport
import Testing

@testable import Masking

struct BrokenFormTests {
  /// A secret of letters, digits and other characters that are possible in an argument.
  private func secret(_ length: Int, _ dice: inout SeededGenerator) -> [UInt8] {
    (0..<length).map { _ in UInt8.random(in: 33...126, using: &dice) }
  }

  /// The output of a line of `sh` that has the secret in `$T`.
  private func output(of line: String, _ secret: [UInt8]) throws -> [UInt8] {
    let file = FileManager.default.temporaryDirectory.appending(path: "broken-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    let child = try Child(
      script: "exec >'\(file.path)'; set -e\n\(line)",
      environment: [
        "PATH": "/usr/local/bin:/usr/bin:/bin", "T": String(decoding: secret, as: UTF8.self),
      ])
    try #require(child.wait() == 0, "\(line)")
    return [UInt8](try Data(contentsOf: file))
  }

  /// The masked text, in pieces of random lengths and as a whole, which must be the same.
  private func masked(_ text: [UInt8], _ secret: [UInt8], _ dice: inout SeededGenerator) throws
    -> String
  {
    let masker = try #require(Masker(secrets: [secret]))
    let whole = MaskingTests.masked(text, masker, pieces: [1 << 20])
    for longest in [1, 7, 100] {
      let pieces = (0..<9).map { _ in Int.random(in: 1...longest, using: &dice) }
      #expect(MaskingTests.masked(text, masker, pieces: pieces).count <= whole.count + 3)
    }
    return String(decoding: whole, as: UTF8.self)
  }

  @Test(arguments: [
    #"printf %s "$T" | base64"#, #"printf '%s\n' "$T" | base64"#,
    #"printf %s "$T" | base64 -w 20"#, #"printf %s "$T" | base64 -w 0 | tr '/+' '_-'"#,
    #"echo $(printf %s "$T" | base64 -w 64)"#, #"printf %s "$T" | base64 -w 12 | sed 's/^/   /'"#,
    #"printf %s "$T" | base64 -w 30 | sed 's/$/\r/'"#,
    #"printf %s "$T" | xxd -p"#, #"printf %s "$T" | xxd -p -u"#, #"printf %s "$T" | xxd -p -c 16"#,
    #"printf %s "$T" | od -An -v -tx1 | tr -d ' '"#,
    #"printf %s "$T" | od -An -v -tx1 | tr -d ' \n' | tr a-f A-F"#,
    "python3 -c 'import os, base64; print(base64.encodebytes(os.environb[b\"T\"]).decode())'",
    "python3 -c 'import os; print(os.environb[b\"T\"].hex())'",
  ])
  func `a secret alone is masked whole`(line: String) throws {
    var dice = SeededGenerator(seed: 11)
    for length in [12, 16, 24, 33, 64, 100, 400] {
      let secret = secret(length, &dice)
      let shown = try masked(try output(of: line, secret), secret, &dice)
      let rest = shown.replacing("***", with: "").filter { !$0.isWhitespace && $0 != "=" }
      #expect(rest.isEmpty, "\(length): \(shown)")
      #expect(shown.contains("***"))
    }
  }

  @Test(arguments: [
    #"printf 'PREFIX%s' "$T" | base64"#, #"printf 'PREFIX%s@host.example' "$T" | base64"#,
    #"printf 'PREFIX%s' "$T" | base64 | tr '/+' '_-'"#,
    #"echo $(printf 'PREFIX%s-' "$T" | base64 -w 40)"#,
  ])
  func `behind a prefix of any length no more than ragged ends are left`(line: String) throws {
    var dice = SeededGenerator(seed: 12)
    for before in 0...90 {
      let secret = secret(Int.random(in: 20...200, using: &dice), &dice)
      let prefix = String(repeating: "u", count: before)
      let text = try output(of: line.replacing("PREFIX", with: prefix), secret)
      let shown = try masked(text, secret, &dice)
      let parts = shown.components(separatedBy: "***")
      #expect(parts.count == 2, "\(shown)")
      let left = parts[0].filter { !$0.isWhitespace }
      #expect(left.count <= before * 8 / 6 + 1, "\(shown)")
    }
  }

  @Test func `what python writes as JSON, in addresses and forms is masked`() throws {
    var dice = SeededGenerator(seed: 13)
    let lines = [
      "import os, json; print(json.dumps(os.environ['T']).strip('\"'))",
      "import os, json; print(json.dumps(os.environ['T']).strip('\"').replace('/', '\\\\/'))",
      "import os, urllib.parse as u; print(u.quote(os.environ['T'], safe=''))",
      "import os, urllib.parse as u; print(u.quote(os.environ['T']))",
      "import os, urllib.parse as u; print(u.quote_plus(os.environ['T']))",
      "import os, urllib.parse as u; print(u.quote_plus(os.environ['T']).lower())",
    ]
    for (number, line) in lines.enumerated() {
      for length in [4, 9, 30] {
        var secret = secret(length, &dice).map { number == 5 ? $0 | 0x20 : $0 }
        // Quotes at the ends would be stripped with JSON's own.
        secret = [97] + secret.map { $0 == 0x7F ? 33 : $0 } + [32, 98]
        let text = try output(of: "python3 -c \"$1\"", secret, line)
        #expect(try masked(text, secret, &dice) == "***\n", "\(line)")
      }
    }
  }

  private func output(of line: String, _ secret: [UInt8], _ argument: String) throws -> [UInt8] {
    let quoted = argument.replacing("'", with: #"'\''"#)
    return try output(of: "set -- '\(quoted)'\n\(line)", secret)
  }

  @Test(arguments: [
    (#"a+b<c>&'d'"#, #"a\u002Bb\u003Cc\u003E\u0026\u0027d\u0027"#),
    (#"a+b<c>&'d'"#, #"a\u002bb\u003cc\u003e\u0026\u0027d\u0027"#),
    (#"pa"ss`w\"#, #"pa\u0022ss\u0060w\\"#), ("pä+ss", #"p\u00E4\u002Bss"#),
    ("a/b=c", #"a\/b=c"#), ("a='b'", #"a\u003d\u0027b\u0027"#),
  ])
  func `JSON as .NET and others write it is masked`(secret: String, shown: String) {
    #expect(Masker(secrets: [Array(secret.utf8)])?.mask("<\(shown)>") == "<***>")
  }

  @Test func `white space at the ends of a secret need not be shown`() throws {
    let masker = try #require(Masker(secrets: [Array(" \thunter22 \n".utf8)]))
    #expect(masker.mask("<hunter22>") == "<***>")
    #expect(masker.mask(Data("hunter22".utf8).base64EncodedString()) == "***")
    #expect(masker.mask("68756e7465723232") == "***")
  }

  @Test func `every text is masked as the reference says, with white space anywhere`() {
    var dice = SeededGenerator(seed: 14)
    for _ in 0..<400 {
      let letters = Int.random(in: 3...20, using: &dice)
      let random = { (length: Int, dice: inout SeededGenerator) in
        (0..<length).map { _ in UInt8(97 + Int.random(in: 0..<letters, using: &dice)) }
      }
      let forms = Set(
        (0..<Int.random(in: 1...4, using: &dice)).map { _ in
          random(Int.random(in: 24...60, using: &dice), &dice)
        })
      let masker = Masker(exactly: [Array("ZZZZ".utf8)], broken: forms)
      var text: [UInt8] = []
      for form in forms.shuffled(using: &dice) {
        text += random(Int.random(in: 0...300, using: &dice), &dice) + [UInt8(ascii: " ")]
        text += broken(form, &dice) + [UInt8(ascii: " ")]
      }
      let whole = MaskingTests.masked(text, masker, pieces: [1 << 20])
      #expect(whole == naivelyMaskedBroken(text, forms))
      let pieces = (0..<7).map { _ in Int.random(in: 1...300, using: &dice) }
      #expect(
        String(decoding: MaskingTests.masked(text, masker, pieces: pieces), as: UTF8.self)
          .split(separator: "***", omittingEmptySubsequences: false).count
          == String(decoding: whole, as: UTF8.self)
          .split(separator: "***", omittingEmptySubsequences: false).count)
    }
  }

  /// The form in lines of at least twelve bytes, except the first, which has any length.
  private func broken(_ form: [UInt8], _ dice: inout SeededGenerator) -> [UInt8] {
    var result: [UInt8] = []
    var rest = form[...]
    var length = Int.random(in: 3...30, using: &dice)
    while !rest.isEmpty {
      result += rest.prefix(length)
      rest = rest.dropFirst(length)
      if !rest.isEmpty {
        result += [[10], [13, 10], [32], [10, 32, 32]].randomElement(using: &dice) ?? [10]
      }
      length = Int.random(in: 12...30, using: &dice)
    }
    return result
  }

  @Test func `a line that ends with the first letters of a form is passed on`() {
    let form = Array("abcdefghijklmnopqrstuvwx".utf8)
    var stream = MaskingStream(Masker(exactly: [Array("ZZZZ".utf8)], broken: [form]))
    var output: [UInt8] = []
    stream.mask(Array("it is ab\n".utf8), into: &output)
    #expect(String(decoding: output, as: UTF8.self) == "it is ab\n")
    stream.mask(Array("abc\n".utf8), into: &output)
    #expect(String(decoding: output, as: UTF8.self) == "it is ab\n")
    stream.mask(Array("defghijklmnopqrstuvwx\n".utf8), into: &output)
    #expect(String(decoding: output, as: UTF8.self) == "it is ab\n***\n")
  }

  @Test func `white space without end is passed on`() {
    let form = Array("abcdefghijklmnopqrstuvwx".utf8)
    var stream = MaskingStream(Masker(exactly: [Array("ZZZZ".utf8)], broken: [form]))
    var output: [UInt8] = []
    for _ in 0..<1000 {
      stream.mask(Array("abcdef".utf8) + Array(repeating: 32, count: 1000), into: &output)
      #expect(!stream.isHolding)
    }
    #expect(output.count == 1_006_000)
  }
}

/// Like `naivelyMasked`, for the text without its white space.
private func naivelyMaskedBroken(_ text: [UInt8], _ patterns: Set<[UInt8]>) -> [UInt8] {
  let places = text.indices.filter { ![9, 10, 13, 32].contains(text[$0]) }
  let bare = places.map { text[$0] }
  var ranges: [Range<Int>] = []
  for start in bare.indices {
    for pattern in patterns where bare[start...].starts(with: pattern) {
      let range = places[start]..<(places[start + pattern.count - 1] + 1)
      if let last = ranges.last, last.upperBound > range.lowerBound {
        ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        ranges.append(range)
      }
    }
  }
  var result: [UInt8] = []
  var position = 0
  for range in ranges {
    result += text[position..<range.lowerBound] + Array("***".utf8)
    position = range.upperBound
  }
  return result + text[position...]
}
