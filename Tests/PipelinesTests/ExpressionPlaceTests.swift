// The locations of expressions in the file, whatever the style of their scalar.

import Diagnostics
import Testing

@testable import Expressions
@testable import Pipelines

/// The place of an expression in a YAML text, whatever its style.
struct TemplatePlaceTests {
  /// The text of the file where `needle` was found in the value of the key `a`.
  private func place(of needle: String, in yaml: String) throws -> String {
    let bytes = Array(yaml.utf8)
    return try bytes.withUnsafeBufferPointer { text in
      var tree = Tree(source: text, base: 0)
      var reader = TreeReader(text, check: try TextCheck(text, base: 0), base: 0)
      while try reader.nextStep(into: &tree) != nil {}
      let origin = tree.origin(2)
      let content = tree.withBytes(of: 2) { Array($0) }
      let range = try #require(String(decoding: content, as: UTF8.self).firstRange(of: needle))
      let start = String(decoding: content, as: UTF8.self).utf8.distance(
        from: yaml.utf8.startIndex, to: range.lowerBound)
      let span = origin.span(
        of: start..<start + needle.utf8.count, in: content[...], SourceText(text, start: 0))
      return String(decoding: bytes[span.range], as: UTF8.self)
    }
  }

  @Test(arguments: [
    ("a: x ${{ foo }}", "foo", "foo"),
    ("a: 'x ${{ ''foo'' }}'", "'foo'", "''foo''"),
    ("a: 'it''s ${{ foo }}'", "foo", "foo"),
    ("a: \"x \\\" ${{ foo }}\"", "foo", "foo"),
    ("a: \"\\x41\\u00e9\\U0001F600\\n ${{ 'f\\to' }} \"", "'f\to'", "'f\\to'"),
    ("a: \"x \\\n   ${{ foo\n\n  == bar }}\"", "bar", "bar"),
    ("a: \"x \\\n   ${{ foo\n\n  == bar }}\"", "foo\n== bar", "foo\n\n  == bar"),
    ("a: x\n  y ${{ foo ==\n  bar }}", "bar", "bar"),
    ("a: |\n  echo a\n    ${{ foo }}\n\n  ${{ bar }}\n", "bar", "bar"),
    ("a: |\n  echo a\n    ${{ foo }}\n\n  ${{ bar }}\n", "foo", "foo"),
    ("a: |2-  # comment ${{ foo }}\n    ${{ foo }}\n", "foo", "foo"),
    ("a: >\n  x\n  ${{ foo }}\n\n  ${{ bar\n    == baz }}\n  z\n", "baz", "baz"),
    ("a: &anchor \"x \\t ${{ foo }}\"", "foo", "foo"),
    ("a: &anchor >-\n\n  x\n  ${{ foo }}\n\n", "foo", "foo"),
    ("a: |\n  ä ${{ 'ö' }} é\n  ${{ foo }}\n", "foo", "foo"),
    ("a: \"\\_\\N\\L\\P ${{ foo }}\"", "foo", "foo"),
    ("a: \"a\\ \\tb  ${{ foo }}\"", "foo", "foo"),
    ("a: 'x\n\n\n  y ${{ foo }}'", "foo", "foo"),
    ("a: |\r\n  x\r\n  ${{ foo }}\r\n", "foo", "foo"),
  ])
  func `a part of the text is found in the file`(
    yaml: String, needle: String, written: String
  ) throws {
    #expect(try place(of: needle, in: yaml) == written)
  }
}
