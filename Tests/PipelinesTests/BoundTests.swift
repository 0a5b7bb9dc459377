// The work that a file can cause is bounded: values of expressions, names, suggestions, NUL.

import Testing

@testable import Diagnostics
@testable import Expressions
@testable import Pipelines
@testable import Plans

struct BoundTests {
  private func messages(_ text: String) -> [String] {
    switch planned(Array(text.utf8)) {
    case .errors(let report): report.split(separator: "\n").map(String.init)
    case .badParameters(let report): report.split(separator: "\n").map(String.init)
    default: []
    }
  }

  @Test func `what functions of all expressions make has one budget`() {
    let big = Array(repeating: "ab", count: 100_000).joined(separator: ",")
    let steps = (0..<3000).map {
      "  - {id: a\($0), run: x, if: \"len(split(params.big, ',')) > \($0)\"}"
    }
    let report = messages(
      "params: {big: \"\(big)\"}\nsteps:\n\(steps.joined(separator: "\n"))")
    #expect(
      report.first?.hasSuffix(
        "error: expressions produce values of more than 64 MiB in all, which is the limit") == true,
      "\(report.prefix(3))")
    #expect(report.count < 100)
  }

  @Test func `making and reading are counted by bytes and items`() {
    let text = Value.string(String(repeating: "a", count: 1 << 20))
    let list = Value.list(Array(repeating: .null, count: 1 << 14))
    let budget = ValueBudget()
    #expect((0..<64).allSatisfy { _ in budget.allows(making: text) })
    #expect(!budget.allows(making: text))
    #expect((0..<512).allSatisfy { _ in budget.allows(reading: list) })
    #expect(!budget.allows(reading: list))
  }

  @Test func `one result has limits`() {
    let many = String(repeating: ",", count: 1000)
    #expect(
      throws: JSONFailure(
        reason: "more than 1,000,000 values, which is the limit,", offset: 1_999_999)
    ) {
      try JSONReader.value(
        of: "[" + Array(repeating: "0", count: 1_000_001).joined(separator: ",") + "]")
    }
    #expect(TextSearch(",").parts(of: many, limit: 1000) == nil)
    #expect(TextSearch(",").parts(of: "a,b", limit: 3) == ["a", "b"])
  }

  @Test(arguments: [
    ("env: {A: \"a\\0b\"}", "'A' cannot contain the character '\\u{0}'"),
    ("env: {\"A\\0\": x}", "a string cannot contain the character '\\u{0}'"),
    ("params: {p: {default: \"a\\0b\"}}", "a string cannot contain the character '\\u{0}'"),
    ("params: {p: [\"a\\0b\"]}", "a string cannot contain the character '\\u{0}'"),
    ("working_dir: \"a\\0b\"", "'working_dir' cannot contain the character '\\u{0}'"),
    (
      "params: {v: x}\nenv: {A: \"a\\0${{ params.v }}\"}",
      "a string cannot contain the character '\\u{0}'"
    ),
    ("env: {A: '${{ \"a\\u0000b\" }}'}", "a string cannot contain the character '\\u{0}'"),
    (
      "env: {A: \"${{ fromJSON('\\\"\\\\u0000\\\"') }}\"}",
      "the string is not JSON: the character '\\u{0}' in a string at byte 1"
    ),
  ])
  func `NUL is refused where it comes in`(key: String, words: String) {
    let report = messages("\(key)\nsteps: [{id: a, run: x}]")
    #expect(report.first?.contains(words) == true, "\(report)")
  }

  @Test(arguments: [
    "run: \"a\\0b\"", "run: [a, \"b\\0\"]", "run: a\n    mutex: \"m\\0\"",
    "run: a\n    stdin: \"m\\0\"", "run: a\n    matrix: {os: [\"a\\0\"]}",
    "run: a\n    if: \"'a\\0' == 'b'\"", "run: a\n    name: \"m\\0\"",
    "uses: download\n    with: {to: x, url: \"http://a/\\0\"}",
    "run: a\n    wait_for: [{file: \"a\\0\"}]",
    "run: a\n    on_failure: \"a\\0\"", "run: a\n    matrix: {\"a\\0\": [1]}",
  ])
  func `NUL is refused in every key of a step`(keys: String) {
    let report = messages("steps:\n  - id: a\n    \(keys)")
    #expect(report.contains { $0.hasSuffix("contain the character '\\u{0}'") }, "\(report)")
  }

  @Test func `a map has at most 100,000 names, an enum 1,000 values`() {
    let names = (0...100_000).map { "  p\($0): 1" }.joined(separator: "\n")
    #expect(
      messages("params:\n\(names)\nsteps: [{id: a, run: x}]").first
        == "pipeline.yml:100002:3: error: more than 100,000 names in one map, which is the limit")
    let values = (0...1000).map { "v\($0)" }.joined(separator: ", ")
    #expect(
      messages("params: {p: {enum: [\(values)]}}\nsteps: [{id: a, run: x}]").first?.hasSuffix(
        "error: more than 1,000 values in 'enum', which is the limit") == true)
  }

  @Test func `faults of parameters are shown up to a number`() {
    var options = PlanningOptions()
    options.parameters = (0..<1000).map { ParameterArgument(name: "x\($0)", value: "") }
    let text = "params: {p: 1}\nsteps: [{id: a, run: x}]"
    do throws(PlanningFailure) {
      _ = try makePlan(path: "p.yml", bytes: Array(text.utf8), options: options)
      Issue.record("the parameters are unknown")
    } catch {
      guard case .badParameters(let faults) = error else {
        Issue.record("\(error)")
        return
      }
      #expect(faults.messages.count == 20 && faults.omittedCount == 980)
    }
  }

  @Test func `suggestions of a file share one budget`() {
    let params = (0..<2000).map { "  parameter\($0): 1" }.joined(separator: "\n")
    let steps = (0..<3000).map {
      "  - {id: a\($0), run: \"echo ${{ params.paremeter\($0) }}\"}"
    }.joined(separator: "\n")
    let report = messages("params:\n\(params)\nsteps:\n\(steps)")
    #expect(report.contains("  help: did you mean 'parameter0'?"))
    #expect(report.last == "pipeline.yml: 1000 or more errors")
  }

  @Test func `a message is one line`() {
    #expect(messageLine("a\n::b\u{1b}") == "a\\n::b\\u{1b}")
    #expect(messageLine(String(repeating: "é", count: 3000)).unicodeScalars.count == 2001)
    #expect(pathAtLineStart("::x.yml") == "./::x.yml" && pathAtLineStart("a/b") == "a/b")
    #expect(nameAtLineStart("--- x") == "'--- x'" && nameAtLineStart("x") == "x")
  }
}
