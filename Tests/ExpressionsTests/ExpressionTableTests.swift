// The rows of operators and functions: every example evaluates to the documented value.

import ExpressionSamples
import Expressions
import Testing

struct ExpressionTableTests {
  private static let rows =
    OperatorRow.all.map { ($0.form, $0.examples) }
    + Function.allCases.map { ($0.row.signature, $0.row.examples) }

  @Test func `every row has the name of its function`() {
    #expect(Function.allCases.map(\.row.name) == Function.allCases.map { "\($0)" })
  }

  @Test(arguments: rows)
  func `every example gives what its row says`(form: String, examples: [(String, String)]) {
    #expect(!examples.isEmpty)
    for (expression, value) in examples {
      #expect(evaluated(expression) == evaluated(value), "\(expression)")
    }
  }

  @Test func `every binary operator has a row`() {
    let forms = OperatorRow.all.map(\.form)
    for sign in BinaryOperator.allCases {
      #expect(forms.contains("x \(sign.sign) y"), "\(sign)")
    }
  }
}

/// Written expressions and their values, by what they show.
struct ExpressionValueTests {
  static let precedence = [
    ("true || true && false", "true"), ("(true || true) && false", "false"),
    ("false && true || true", "true"), ("1 == 1 && 2 == 2", "true"),
    ("!true == false", "true"), ("!(1 == 2)", "true"), ("!false && false", "false"),
    ("null ?? 'a' == 'a'", "true"), ("false ? 1 : false ? 2 : 3", "3"),
    ("true ? false ? 1 : 2 : 3", "2"), ("1 < 2 == true", "comparison chain"),
    ("'a' in ['a'] && true", "true"), ("!!('a' in ['b'])", "false"),
    ("true ? 'a' : 'b' ?? 'c'", "'a'"), ("null ?? null ?? 1", "1"),
  ]

  @Test(arguments: precedence)
  func `operators hold together as documented`(text: String, value: String) {
    let seen = evaluated(text)
    #expect(
      seen == value || value == "comparison chain" && seen.contains("comparisons cannot be chained")
    )
  }

  @Test(arguments: [
    ("'it''s'", "'it''s'"), (#""a\tb\u0041\ud83d\ude00""#, #""a\tbA😀""#), ("''", "''"),
    (#""it's""#, "'it''s'"), ("-5", "-5"), ("1.50", "1.5"), ("1e3", "1000"), ("-0", "0"),
    ("9007199254740991", "9007199254740991"), ("0.1", "0.1"), ("1e21", "1e+21"),
    ("[]", "[]"), ("[1, 'a', null, [true]]", "[1, 'a', null, [true]]"), ("null", "null"),
    ("  true\n", "true"),
  ])
  func `literals`(text: String, value: String) {
    #expect(evaluated(text) == value)
  }

  @Test(arguments: [
    ("params.version", "'1.2'"), ("params['version']", "'1.2'"), ("params.count", "3"),
    ("params[params.fast ? 'count' : 'tag']", "3"), ("params.tag ?? 'none'", "'none'"),
    ("params.targets[1]", "'b c'"), ("len(params)", "5"),
    ("steps.build.outputs.version", "'1.2.3'"), ("steps.my-step.outputs.x-y", "'z'"),
    ("steps.my-step.outputs['no'] ?? 'd'", "'d'"), ("steps.my-step.outputs.no.deep ?? 'd'", "'d'"),
    ("(steps.my-step.outputs.no ?? params.tag) ?? 'd'", "'d'"),
    ("env.HOME", "'/root'"), ("env.NOT_SET ?? ''", "''"), ("matrix.swift", "6.3"),
    ("fromJSON('[1, {\"a\": [2]}]')[1].a[0]", "2"), ("fromJSON('[1]')[5] ?? 'd'", "'d'"),
    (
      #"fromJSON("{\"a\": 1, \"b\": {\"c\": [true, null]}}")"#,
      #"fromJSON('{"a":1,"b":{"c":[true,null]}}')"#
    ),
    ("steps.build.outputs.size > 4", "true"),
  ])
  func `names, members and items`(text: String, value: String) {
    #expect(evaluated(text) == value)
  }

  @Test(arguments: [
    ("contains('aaab', 'aab')", "true"), ("contains('abababac', 'ababac')", "true"),
    ("contains('a', '')", "true"), ("contains([1, 2], 2)", "true"), ("contains([], 2)", "false"),
    ("startsWith('', '')", "true"), ("endsWith('abc', 'bc')", "true"),
    ("join([])", "''"), ("join([1, true, 'x'], '')", "'1truex'"),
    ("split('a--b---c', '--')", "['a', 'b', '-c']"), ("split('', ',')", "['']"),
    ("split(\"a\\nb\", \"\\n\")", "['a', 'b']"), ("len('👨‍👩‍👧')", "5"),
    ("trim(\" \\r\\n\\ta \")", "'a'"),
    ("basename('/')", "'/'"), ("basename('//')", "'/'"), ("basename('')", "''"),
    ("basename('/a/b//')", "'b'"), ("basename('a')", "'a'"),
    ("dirname('/')", "'/'"), ("dirname('/a')", "'/'"), ("dirname('//a//b//')", "'//a'"),
    ("dirname('a/b')", "'a'"), ("dirname('')", "'.'"), ("dirname('a/')", "'.'"),
    (
      "toJSON(fromJSON(' {\"b\":1,\"a\":[1.5,\"\\u00e9\\n\"]} '))",
      #"'{"b":1,"a":[1.5,"é\n"]}'"#
    ),
    ("fromJSON('-0.5e-1')", "-0.05"), ("quote(1)", "'''1'''"), ("quote('')", "''''''"),
    ("upper('straße')", "'STRASSE'"),
    ("success() || failure() && !cancelled() && always()", "true"),
  ])
  func `functions`(text: String, value: String) {
    #expect(evaluated(text) == value)
  }

  @Test func `composed and decomposed letters are two texts`() {
    #expect(evaluated("'\u{e9}' == 'e\u{301}'") == "false")
    #expect(evaluated("contains(['\u{e9}'], 'e\u{301}')") == "false")
    #expect(evaluated("contains('e\u{301}', 'e')") == "true")
  }

  @Test func `what is not asked for may fail`() {
    #expect(evaluated("false && fromJSON('x')") == "false")
    #expect(evaluated("true || fromJSON('x')") == "true")
    #expect(evaluated("true ? 1 : fromJSON('x')") == "1")
    #expect(evaluated("1 ?? fromJSON('x')") == "1")
  }
}
