// Strings with expressions in them: their parts, what is inserted, and their locations in a YAML
// file.

import Diagnostics
import ExpressionSamples
import Testing

@testable import Expressions

/// The template of a string that is the whole content of a file.
func template(_ text: String, _ log: inout DiagnosticLog) -> Template? {
  let file = SampleFile(text)
  return file.sources.withText(at: file.origin.span) { source in
    Template(parsing: file.bytes[...], file.origin, in: source, log: &log)
  }
}

private func rendered(_ text: String) throws -> String {
  var log = DiagnosticLog()
  return try #require(template(text, &log)).rendered(with: afterwards)
}

struct TemplateTests {
  @Test(arguments: [
    ("plain", "plain"), ("", ""), ("v${{ params.version }}", "v1.2"),
    ("${{params.count}}${{ params.fast }}-${{ matrix.swift }}", "3true-6.3"),
    ("$${{ params.version }}", "${{ params.version }}"), ("$$${{ 1 }}", "$${{ 1 }}"),
    ("a $${{ ${{ 'b' }} }}", "a ${{ b }}"), ("${{ '}}' }}", "}}"),
    ("$ { {{ }} ${ {", "$ { {{ }} ${ {"),
    ("${{ \"a\\n\" }}\n", "a\n\n"), ("ä${{ 'ö' }}ü", "äöü"),
  ])
  func `values take the place of expressions`(text: String, result: String) throws {
    #expect(try rendered(text) == result)
  }

  @Test func `one expression alone keeps its type`() throws {
    var log = DiagnosticLog()
    let single = try #require(template("${{ params.targets }}", &log)?.single)
    #expect(try single.evaluated(with: afterwards) == .list([.string("a"), .string("b c")]))
    #expect(template(" ${{ params.targets }}", &log)?.single == nil)
    #expect(template("a", &log)?.single == nil)
    #expect(template("a$${{", &log)?.literal == "a${{")
    #expect(template("${{ 1 }}", &log)?.literal == nil)
  }

  @Test func `folding leaves what is not known`() throws {
    var log = DiagnosticLog()
    let text = "${{ params.version }}-${{ steps.build.outputs.size }}-$${{ ${{ quote(matrix.os) }}"
    let whole = try #require(template(text, &log))
    let folded = try whole.folded(with: SampleBindings())
    #expect(folded.description == "1.2-${{ steps.build.outputs.size }}-${{ 'linux'")
    #expect(try folded.rendered(with: afterwards) == "1.2-5-${{ 'linux'")
    #expect(
      try folded.folded(with: afterwards).rendered(with: SampleBindings()) == "1.2-5-${{ 'linux'")
  }

  @Test func `many expressions in one text cost what one costs each`() throws {
    var log = DiagnosticLog()
    let text = String(repeating: "${{ params.count }} ", count: 50_000)
    let whole = try #require(template(text, &log))
    #expect(whole.expressions.count == 50_000)
    #expect(try whole.rendered(with: afterwards) == String(repeating: "3 ", count: 50_000))
    #expect(try whole.folded(with: afterwards).rendered(with: afterwards).utf8.count == 100_000)
    #expect(
      try whole.renderedScript(for: ScriptReader(shell: ["sh"]), with: afterwards)
        == String(repeating: "3 ", count: 50_000))
  }

  @Test func `all that is wrong is told, each at its place`() {
    var log = DiagnosticLog()
    let text = "a ${{ }} b ${{ 1 + }} ${{ params.version"
    #expect(template(text, &log) == nil)
    #expect(
      SampleFile(text).report(&log) == """
        p:1:7: error: an expression is missing here
         1 | a ${{ }} b ${{ 1 + }} ${{ params.version
           |       ^
        p:1:18: error: '+' has no meaning in an expression
         1 | a ${{ }} b ${{ 1 + }} ${{ params.version
           |                  ^
          help: expressions have no arithmetic; strings are joined outside of them: ${{ a }}${{ b }}
        p:1:23: error: this '${{' is never closed
         1 | a ${{ }} b ${{ 1 + }} ${{ params.version
           |                       ^~~
          help: close it with '}}', or write '$${{' for '${{' itself

        """)
  }

  @Test func `a list, a map or null cannot be inserted into text`() throws {
    var log = DiagnosticLog()
    let text = "a${{ params.targets }}${{ null }}${{ params.tag }}"
    let file = SampleFile(text)
    let whole = try #require(template(text, &log))
    file.sources.withText(at: file.origin.span) { source in
      whole.checkText(in: SampleScope(), source, log: &log)
    }
    #expect(
      file.report(&log) == """
        p:1:6: error: 'params.targets' is a list, which cannot be inserted into text
         1 | a${{ params.targets }}${{ null }}${{ params.tag }}
           |      ^~~~~~~~~~~~~~
          help: join(x, ' ') or toJSON(x) turns it into a string
        p:1:27: error: 'null' is null, which cannot be inserted into text
         1 | a${{ params.targets }}${{ null }}${{ params.tag }}
           |                           ^~~~
          help: give a default: x ?? ''

        """)
    #expect(throws: EvaluationFailure.self) { try rendered("${{ params.tag }}") }
  }

  @Test(arguments: [
    "${{ true }}", " ${{ true }}\n", "${{true}}", "true\n",
  ])
  func `a condition may stand in braces`(text: String) {
    #expect(faults(text) == "")
  }

  @Test func `a condition has no text around it`() {
    #expect(
      faults("${{ true }} && false") == """
        p:1:12: error: a condition is one expression, without text around it
         1 | ${{ true }} && false
           |            ^~~~~~~~~
          help: write the whole condition as one expression; the braces may be left out

        """)
    #expect(
      faults("${{ true }}${{ false }}").contains("p:1:12: error: a condition is one expression"))
  }
}
