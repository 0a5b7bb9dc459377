// Files made to break a parser: each meets a limit, quickly and without much memory.

import Pipelines
import Plans
import Scheduling
import Testing

private let valid = "steps:\n  - {id: a, run: x}\n"

private func repeated(_ text: String, _ count: Int) -> [UInt8] {
  Array(String(repeating: text, count: count).utf8)
}

struct HostileFileTests {
  @Test func `more than 64 MiB is refused before it is read`() {
    let bytes = [UInt8](repeating: UInt8(ascii: "#"), count: 64 << 20 + 1)
    #expect(messages(bytes) == ["1:1: the file is larger than 64 MiB, which is the limit"])
  }

  @Test(arguments: [("[", 65), ("{a: ", 257), ("- ", 129), ("[{a: ", 161)])
  func `100,000 levels end at the 65th`(_ level: String, _ column: Int) {
    #expect(
      messages(repeated(level, 100_000)) == [
        "1:\(column): values are nested more than 64 levels deep, which is the limit"
      ])
  }

  @Test func `64 levels are no recursion and no error of nesting`() {
    let text = "x-a: " + String(repeating: "[", count: 63) + String(repeating: "]", count: 63)
    #expect(messages(text + "\n" + valid) == [])
    let deeper = "x-a: " + String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
    #expect(
      messages(deeper + "\n" + valid) == [
        "1:69: values are nested more than 64 levels deep, which is the limit"
      ])
  }

  @Test func `nesting by aliases counts too`() {
    let text = (1...70).map { "x-\($0): &a\($0) [\($0 == 1 ? "x" : "*a\($0 - 1)")]\n" }.joined()
    #expect(
      messages(text + valid) == [
        "64:13: values are nested more than 64 levels deep, which is the limit"
      ])
  }

  @Test func `a billion laughs end at the budget`() {
    let text =
      "x-a: &a [x, x, x, x, x, x, x, x, x, x]\n"
      + zip("bcdefghi", "abcdefgh").map { name, last in
        "x-\(name): &\(name) [\((1...10).map { _ in "*\(last)" }.joined(separator: ", "))]\n"
      }.joined()
    #expect(
      messages(text + valid) == [
        "6:38: aliases expand to more than 1,000,000 values and to ten times what is written, "
          + "which is the limit"
      ])
  }

  @Test func `a merge bomb ends at the budget`() {
    let keys = (0..<1000).map { "k\($0): v" }.joined(separator: ", ")
    let steps = (0..<3000).map { "  - {id: s\($0), run: x, env: {<<: *a}}\n" }.joined()
    #expect(
      messages("x-a: &a {\(keys)}\nsteps:\n" + steps) == [
        "502:34: aliases expand to more than 1,000,000 values and to ten times what is written, "
          + "which is the limit"
      ])
  }

  @Test func `a long text repeated by aliases ends at a limit`() {
    let steps = (0..<200).map { "  - {id: s\($0), run: x, stdin: *a, name: n\($0)}\n" }.joined()
    let text = "x-a: &a \"" + String(repeating: "y", count: 1_000_000) + "\"\nsteps:\n" + steps
    #expect(
      messages(text).first
        == "1:9: more than 4,000,000 strings or 64 MiB of text once aliases are expanded, "
        + "which is the limit")
  }

  @Test func `a scalar has at most 1 MiB`() {
    let mebibyte = String(repeating: "x", count: 1 << 20)
    #expect(messages(valid + "description: \(mebibyte)\n") == [])
    for quote in ["", "\"", "'"] {
      #expect(
        messages(valid + "description: \(quote)\(mebibyte)y\(quote)\n") == [
          "3:14: this string is longer than 1 MiB, which is the limit"
        ])
    }
  }

  @Test func `one list has at most four million values`() {
    #expect(
      messages(Array("x-a: [".utf8) + repeated("a,", 4_000_001)) == [
        "1:8000001: more than 4,000,000 values in one step or outside the steps, "
          + "which is the limit"
      ])
  }

  @Test func `reading ends after a thousand errors`() {
    #expect(messages(Array("steps: [".utf8) + repeated("{},", 20_000)).count == 1000)
    #expect(messages(repeated("unknown: 1\n", 20_000)).count == 1000)
    #expect(
      messages(Array("steps:\n".utf8) + repeated("- {id: a, run: x}\n", 20_000)).count == 1000)
  }

  @Test func `variables of all steps together end at four million`() throws {
    let variables = (0..<5000).map { "v\($0): x" }.joined(separator: ", ")
    func steps(_ rest: String) -> String {
      (0..<1000).map { "  - {id: s\($0), run: x, \(rest.replacing("@", with: "\($0)"))}\n" }
        .joined()
    }
    let head = "env: {\(variables)}\nsteps:\n"
    #expect(
      messages(head + steps("env: {OWN: '@'}")) == [
        "802:10: more than 4,000,000 environment variables of all steps together, which is the limit"
      ])
    #expect(try plan(head + steps("name: 'step @', timeout: 1m")).steps.count == 1000)
  }

  @Test func `what include adds to all instances is bounded`() {
    let axis = (0..<64).map(String.init).joined(separator: ", ")
    let entries = (0..<4096).map { "{c\($0): 1}" }.joined(separator: ", ")
    let matrix = "{x: [\(axis)], y: [\(axis)], include: [\(entries)]}"
    #expect(
      messages("steps:\n  - {id: t, run: x, matrix: \(matrix)}\n") == [
        "2:21: the matrix of 't' leads to more than 1,500,000 instance values, which is the limit"
      ])
  }

  @Test func `there are at most a million steps`() {
    var text = "steps:\n"
    for index in 0...1_000_000 { text += "- {id: s\(index), run: x}\n" }
    #expect(messages(text) == ["1000002:3: more than 1,000,000 steps, which is the limit"])
  }
}

/// Each takes longer than all other tests together if something is quadratic, and so shows it.
struct QuadraticTrapTests {
  @Test func `20,000 keys in one map`() throws {
    let keys = (0..<20_000).map { "k\($0): v" }.joined(separator: ", ")
    let settings = try plan("env: {\(keys)}\n" + valid).steps[0].settings
    #expect(settings.environment.count == 20_000)
  }

  @Test func `20,000 anchors, each used`() {
    let anchors = (0..<20_000).map { "&a\($0) x" }.joined(separator: ", ")
    let aliases = (0..<20_000).map { "*a\($0)" }.joined(separator: ", ")
    #expect(messages("x-a: [\(anchors)]\nx-b: [\(aliases)]\n" + valid) == [])
  }

  @Test func `more than 200,000 anchors are refused`() {
    let anchors = (0...200_000).map { "&a\($0) x" }.joined(separator: ", ")
    #expect(
      messages("x-a: [\(anchors)]\n" + valid).map { $0.drop { $0 != " " } } == [
        " more than 200,000 anchors, which is the limit"
      ])
  }

  @Test func `a sequence of 40,000 steps that run after a failure, and ask for the first one`() {
    let steps = (0..<20_000).map { number in
      "  - {id: a\(number), run: x, allow_failure: true, if: \"steps.first.outcome == 'succeeded'\"}\n"
        + "  - {id: b\(number), run: x, if: always()}\n"
    }
    #expect(
      messages("sequence: true\nsteps:\n  - {id: first, run: x}\n" + steps.joined()) == [])
  }

  @Test func `8,000 steps, one after another, that make files where all have the same pattern`() {
    let steps = (0..<8_000).map { number in
      let cache = "cache: {inputs: [], outputs: [out/\(number).o, \"out/*.x\"]}"
      return "  - {id: s\(number), run: x, \(cache)}\n"
    }
    #expect(messages("sequence: true\nsteps:\n" + steps.joined()) == [])
  }

  @Test func `patterns with many ** beside long paths`() {
    let deep = String(repeating: "a/", count: 60) + "c"
    let endless = String(repeating: "a/", count: 100_000) + "c"
    let wild = String(repeating: "**/a/", count: 30) + "z"
    #expect(
      messages(
        """
        steps:
          - {id: a, run: x, cache: {inputs: [], outputs: ["\(wild)", "**/z"]}}
          - {id: b, run: x, cache: {inputs: [], outputs: [\(deep), \(endless)]}}

        """) == [])
  }

  @Test func `450 patterns beside 450 paths of 4,000 bytes`() {
    let steps = (0..<450).map { number in
      let path = "p\(number)/" + String(repeating: "a/", count: 2_000) + "c"
      let cache = "cache: {inputs: [], outputs: [\"**/z\(number)\", \(path)]}"
      return "  - {id: s\(number), run: x, \(cache)}\n"
    }
    #expect(messages("steps:\n" + steps.joined()) == [])
  }

  @Test func `one step that waits for 20,000 others, and 20,000 that wait for one`() throws {
    let steps = (0..<20_000).map { "  - {id: s\($0), run: x, depends_on: [first]}\n" }.joined()
    let names = (0..<20_000).map { "s\($0)" }.joined(separator: ", ")
    let text =
      "steps:\n  - {id: first, run: x}\n" + steps
      + "  - {id: last, run: x, depends_on: [\(names)]}\n"
    #expect(try plan(text).graph.edgeCount == 40_000)
  }

  @Test func `20,000 entries of exclude and of include`() throws {
    let axis = (0..<64).map(String.init).joined(separator: ", ")
    let entries = (0..<20_000).map { "{x: \($0 % 63), y: \($0)}" }.joined(separator: ", ")
    let step = "id: t, run: x, matrix: {x: [\(axis)], y: [\(axis)]"
    #expect(
      try plan("steps:\n  - {\(step), exclude: [\(entries)]}}\n").steps.count == 4096 - 64 + 1)
    let known = (0..<20_000).map { "{x: \($0 % 63), y: \($0 % 64)}" }.joined(separator: ", ")
    #expect(try plan("steps:\n  - {\(step), include: [\(known)]}}\n").steps.count == 4096 + 1)
  }

  @Test func `thousands of instances with a thousand axes are too much`() {
    let axes = (0..<12).map { "a\($0): [0, 1]" } + (0..<1_000).map { "b\($0): [x]" }
    let matrix = "{\(axes.joined(separator: ", "))}"
    #expect(
      messages("steps: [{id: a, run: x, matrix: \(matrix)}]\n") == [
        "1:25: the matrix of 'a' leads to more than 1,500,000 instance values, which is the limit"
      ])
  }

  @Test func `10,000 axes and 10,000 secrets, each used`() {
    func words(_ root: String) -> String {
      (0..<10_000).map { "'${{ \(root).p\($0) }}'" }.joined(separator: ", ")
    }
    let axes = (0..<10_000).map { "p\($0): [x]" }.joined(separator: ", ")
    #expect(
      messages("steps: [{id: a, matrix: {\(axes)}, run: [echo, \(words("matrix"))]}]\n") == [])
    let secrets = (0..<10_000).map { "{name: p\($0)}" }.joined(separator: ", ")
    let variables = (0..<10_000).map { "V\($0): '${{ secrets.p\($0) }}'" }
    #expect(
      messages(
        "secrets: [\(secrets)]\n"
          + "steps: [{id: a, run: x, env: {\(variables.joined(separator: ", "))}}]\n") == [])
  }

  @Test func `thousands of matrices of which exclude leaves nothing are too much`() {
    let axes = (0..<16).map { "a\($0): [0, 1]" }.joined(separator: ", ")
    let entries = (0..<16).map { "{a\($0): 1}" }.joined(separator: ", ")
    let steps = (0..<2_000).map { "  - {id: s\($0), run: x, matrix: *m}\n" }.joined()
    let found = messages("x-m: &m {\(axes), exclude: [{}, \(entries)]}\nsteps:\n\(steps)")
    #expect(
      found.first
        == "17:23: the matrix of 's14' needs more than 16,000,000 comparisons for 'exclude' and 'include', which is the limit"
    )
  }

  @Test(arguments: ["exclude", "include"])
  func `entries that name every set of axes are too much`(of key: String) {
    let axes = (0..<12).map { "a\($0): [0, 1]" }.joined(separator: ", ")
    let entries = (0..<4096).map { set in
      "{" + (0..<12).filter { set >> $0 & 1 == 1 }.map { "a\($0): 1" }.joined(separator: ", ") + "}"
    }
    let matrix = "{\(axes), \(key): [\(entries.joined(separator: ", "))]}"
    #expect(
      messages("steps: [{id: a, run: x, matrix: \(matrix)}]\n") == [
        "1:25: the matrix of 'a' needs more than 16,000,000 comparisons for 'exclude' and 'include', which is the limit"
      ])
  }

  @Test func `20,000 parameters, each used`() throws {
    let params = (0..<20_000).map { "p\($0): v" }.joined(separator: ", ")
    let words = (0..<20_000).map { "'${{ params.p\($0) }}'" }.joined(separator: ", ")
    let steps = "steps:\n  - {id: t, run: [echo, \(words)]}\n"
    #expect(messages("params: {\(params)}\n" + steps) == [])
  }

  @Test func `10,000 outputs of one step and 10,000 dependencies, each used`() {
    let names = (0..<10_000).map { "s\($0)" }
    let list = names.joined(separator: ", ")
    let steps = names.map { "  - {id: \($0), run: x}\n" }.joined()
    let declared = names.map { "\($0): string" }.joined(separator: ", ")
    let outputs = names.map { "'${{ steps.first.outputs.\($0) }}'" }.joined(separator: ", ")
    let outcomes = names.map { "'${{ steps.\($0).outcome }}'" }.joined(separator: ", ")
    let text =
      "steps:\n  - {id: first, run: x, outputs: {\(declared)}}\n" + steps
      + "  - {id: t, depends_on: [first], run: [echo, \(outputs)]}\n"
      + "  - {id: u, depends_on: [\(list)], run: [echo, \(outcomes)]}\n"
    #expect(messages(text) == [])
  }

  @Test func `20,000 misspelt names among 20,000 steps`() {
    let steps = (0..<20_000).map { "  - {id: s\($0), run: x, depends_on: [t\($0)]}\n" }.joined()
    #expect(messages("steps:\n" + steps).count == 1000)
  }

  @Test(arguments: [
    ("${{ params.x }}", "1003:18: unknown parameter 'x'"),
    ("é ${{ params.x }}", "1003:20: unknown parameter 'x'"),
    ("${{ params.x }}\\", "1003:18: unknown parameter 'x'"),
    ("${{ } }}", "1003:11: '}' has no meaning in an expression"),
  ])
  func `10,000 errors in one text`(_ line: String, _ last: String) {
    let text = (0..<10_000).map { _ in "      \(line)\n" }.joined()
    let found = messages("steps:\n  - id: a\n    run: |\n" + text)
    #expect(found.count == 1000)
    #expect(found.last == last)
  }

  @Test(arguments: [
    "echo >x; @*", "sudo @ *", "[ @* ]", "x; y@[*", "export A[1]=@*", "echo \"$(@ *",
    "declare -a x; x=@*", "for i in @ *",
  ])
  func `10,000 values in one command of a script`(_ form: String) {
    let command = form.split(separator: "@", omittingEmptySubsequences: false)
    let separator = command[1].prefix(while: { $0 != "*" })
    let values = (0..<10_000).map { _ in "${{ params.x }}\(separator)" }.joined()
    let script = command[0] + values + command[1].drop { $0 != "*" }.dropFirst()
    #expect(
      messages("params: {x: 1}\nsteps:\n  - id: a\n    run: |\n      \(script)\n") == [])
  }

  @Test func `a cycle of 20,000 steps`() {
    let steps = (0..<20_000).map {
      "  - {id: s\($0), run: x, depends_on: [s\(($0 + 1) % 20_000)]}\n"
    }.joined()
    #expect(
      messages("steps:\n" + steps) == [
        "2:35: dependency cycle: "
          + "s0 -> s1 -> s2 -> s3 -> s4 -> s5 -> s6 -> s7 -> … -> s0"
      ])
  }
}

/// The same for expressions, and for what is said of them.
struct QuadraticExpressionTests {
  @Test func `a text cut into 40,000 keys by commas`() {
    let keys = String(repeating: ", b", count: 40_000)
    let found = messages("steps:\n  - {id: a, run: x\(keys)}\n")
    #expect(found.map { String($0.prefix(21)) } == ["2:21: unknown key 'b'"])
  }

  @Test func `20,000 axes of which one entry of exclude names all`() {
    let axes = (0..<20_000).map { "a\($0): [1]" }.joined(separator: ", ")
    let entry = (0..<20_000).map { "a\($0): 1" }.joined(separator: ", ")
    let matrix = "{\(axes), exclude: [{\(entry)}]}"
    #expect(messages("steps: [{id: a, run: x, matrix: \(matrix)}]\n") == [])
  }

  @Test func `a variable written 4,000 times in a cycle`() {
    let values = (0..<4_000).map { _ in "  - {A: '${{ vars.x }}'}\n" }.joined()
    #expect(
      messages("vars: {x: '${{ env.A }}'}\nenv:\n\(values)" + valid) == [
        "1:8: 'vars' depend on each other in a cycle: vars.x -> env.A -> env.A -> env.A -> env.A "
          + "-> env.A -> env.A -> env.A -> … -> vars.x"
      ])
  }

  @Test func `a cycle of 1,000 derived values, with a way back from each`() {
    let values = (0..<1_000).map {
      "  v\($0): '${{ vars.v\(($0 + 1) % 1_000) }}${{ vars.v0 }}'\n"
    }
    #expect(
      messages("vars:\n\(values.joined())" + valid).map { $0.drop { $0 != "v" } } == [
        "vars' depend on each other in a cycle: vars.v0 -> vars.v1 -> vars.v2 -> vars.v3 -> vars.v4 "
          + "-> vars.v5 -> vars.v6 -> vars.v7 -> … -> vars.v0"
      ])
  }

  @Test func `10,000 variables of a step that name the environment`() {
    let variables = (0..<10_000).map { "V\($0): \"${{ env.HOME ?? '' }}\"" }
    #expect(
      messages("steps: [{id: a, run: x, env: {\(variables.joined(separator: ", "))}}]\n") == [])
  }

  @Test func `1,500 defaults with expressions for 1,500 steps`() {
    let variables = (0..<1_500).map { "V\($0): '${{ params.x }}'" }.joined(separator: ", ")
    let steps = (0..<1_500).map { "  - {id: s\($0), run: x}\n" }.joined()
    #expect(
      messages("params: {x: 1}\ndefaults: {env: {\(variables)}}\nsteps:\n" + steps) == [])
  }

  @Test func `a default that is valid in the first step only`() {
    #expect(
      messages(
        """
        defaults: {stdin: "${{ env.OWN ?? '' }}", env: {V: "${{ matrix.x }}", W: "${{ env.OWN ?? '' }}"}}
        steps: [{id: a, run: x, matrix: {x: [1]}}, {id: b, run: x, env: {OWN: y}}]

        """
      ) == [
        "1:24: variable 'OWN' is in this step's own 'env', which expressions cannot read",
        "1:57: this step has no 'matrix'",
      ])
  }

  @Test func `the types of 100 parameters with 1,000 allowed values each`() {
    let params = (0..<100).map { number in
      "p\(number): {enum: [\((0..<1_000).map { "v\(number)-\($0)" }.joined(separator: ", "))]}"
    }
    let names = (0..<100).map { "params.p\($0)" }.joined(separator: ", ")
    #expect(
      messages(
        "params: {\(params.joined(separator: ", "))}\n"
          + "steps: [{id: a, run: x, if: 'len([\(names)]) > 0'}]\n") == [])
  }

  @Test func `patterns are made once, and count as steps of matches`() {
    func steps(_ pattern: (Int) -> String) -> String {
      "steps:\n"
        + (0..<1_200).map {
          "  - {id: s\($0), run: x, if: \"matches('a', '\(pattern($0))') || \($0) == 0\"}\n"
        }.joined()
    }
    #expect(messages(steps { _ in "(a{100}){99}" }) == [])
    #expect(
      messages(steps { "(a{90}){99}b{\($0 % 1000)}|c{\($0 / 1000)}" }).first?.drop { $0 != " " }
        == " 'matches' takes more than 10,000,000 steps in all, which is the limit")
  }
}
