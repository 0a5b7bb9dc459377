// Messages about mistakes in expressions: syntax, names, types, values.

import ExpressionSamples
import Expressions
import Testing

struct ExpressionFaultTests {
  @Test(arguments: [
    ("", "p:1:1: error: an expression is missing here\n 1 |\n   | ^\n"),
    (
      "params.fast &&",
      """
      p:1:15: error: the expression ends too early, wanted a value
       1 | params.fast &&
         |               ^

      """
    ),
    (
      "params.fast = true",
      """
      p:1:13: error: '=' has no meaning in an expression
       1 | params.fast = true
         |             ^
        help: '==' compares

      """
    ),
    (
      "params.fast and true",
      """
      p:1:13: error: 'and' is not an operator
       1 | params.fast and true
         |             ^~~
        help: '&&' means and

      """
    ),
    (
      "(params.fast OR true)",
      """
      p:1:14: error: 'OR' is not an operator
       1 | (params.fast OR true)
         |              ^~
        help: '||' means or

      """
    ),
    (
      "not params.fast",
      """
      p:1:1: error: 'not' is not an operator
       1 | not params.fast
         | ^~~
        help: '!' means not: !(x == y)

      """
    ),
    (
      "!not(params.fast)",
      """
      p:1:2: error: 'not' is not an operator
       1 | !not(params.fast)
         |  ^~~
        help: '!' means not: !(x == y)

      """
    ),
    (
      "params.version not in ['a']",
      """
      p:1:16: error: 'not' is not an operator
       1 | params.version not in ['a']
         |                ^~~
        help: '!' means not: !(x == y)

      """
    ),
    (
      "params.version is '1'",
      """
      p:1:16: error: 'is' is not an operator
       1 | params.version is '1'
         |                ^~
        help: '==' compares

      """
    ),
    (
      "params.version contains '1'",
      """
      p:1:16: error: 'contains' is a function, not an operator
       1 | params.version contains '1'
         |                ^~~~~~~~
        help: write contains(text or list, part)

      """
    ),
    (
      "params.version =~ '^v'",
      """
      p:1:16: error: '=~' has no meaning in an expression
       1 | params.version =~ '^v'
         |                ^~
        help: matches(text, pattern) compares with a regular expression

      """
    ),
    (
      "params.version !~ '^v'",
      """
      p:1:16: error: '!~' has no meaning in an expression
       1 | params.version !~ '^v'
         |                ^~
        help: !matches(text, pattern) compares with a regular expression

      """
    ),
    (
      "contains('a' 'b')",
      """
      p:1:14: error: found 'b', wanted ',' or ')'
       1 | contains('a' 'b')
         |              ^~~

      """
    ),
    (
      "(1 < 2",
      """
      p:1:7: error: the expression ends too early, wanted ')'
       1 | (1 < 2
         |       ^

      """
    ),
    (
      "1 < 2 < 3",
      """
      p:1:7: error: comparisons cannot be chained
       1 | 1 < 2 < 3
         |       ^
        help: join comparisons with '&&', or add parentheses

      """
    ),
    (
      "'abc == 'd",
      """
      p:1:10: error: found 'd', wanted an operator or the end of the expression
       1 | 'abc == 'd
         |          ^

      """
    ),
    (
      "params.version == 'a",
      """
      p:1:19: error: this string is never closed
       1 | params.version == 'a
         |                   ^

      """
    ),
    (
      #""\x""#,
      #"""
      p:1:1: error: unknown escape in this string
       1 | "\x"
         | ^~~~
        help: the escapes are \n \t \r \b \f \" \\ \/ and \u0041; 'single quotes' have none

      """#
    ),
    (
      "12ab == 1",
      """
      p:1:1: error: '12ab' is not a number
       1 | 12ab == 1
         | ^~~~

      """
    ),
    (
      "007 == 7",
      """
      p:1:1: error: '007' is not a number
       1 | 007 == 7
         | ^~~

      """
    ),
    (
      "9007199254740993 > 1",
      """
      p:1:1: error: the number 9007199254740993 is too large to be represented exactly
       1 | 9007199254740993 > 1
         | ^~~~~~~~~~~~~~~~
        help: write it as a string: '9007199254740993'

      """
    ),
    (
      "params. version",
      """
      p:1:7: error: a name must directly follow '.'
       1 | params. version
         |       ^
        help: write other names as ['…']

      """
    ),
    (
      "params.count-1 == 2",
      """
      p:1:8: error: unknown parameter 'count-1'
       1 | params.count-1 == 2
         |        ^~~~~~~
        help: did you mean 'count'?

      """
    ),
    (
      "params.count - 1 == 2",
      """
      p:1:14: error: '-' has no meaning in an expression
       1 | params.count - 1 == 2
         |              ^
        help: expressions have no arithmetic

      """
    ),
    (
      "$x == 'ä'",
      """
      p:1:1: error: '$' has no meaning in an expression
       1 | $x == 'ä'
         | ^
        help: a name stands for its value: params.x, env.X

      """
    ),
  ])
  func `what is written wrong is underlined`(text: String, report: String) {
    #expect(faults(text) == report)
  }

  @Test(arguments: [
    (
      "params.verson == '1'",
      """
      p:1:8: error: unknown parameter 'verson'
       1 | params.verson == '1'
         |        ^~~~~~
        help: did you mean 'version'?

      """
    ),
    (
      "param.version == main",
      """
      p:1:1: error: unknown name 'param'
       1 | param.version == main
         | ^~~~~
        help: did you mean 'params'?
      p:1:18: error: unknown name 'main'
       1 | param.version == main
         |                  ^~~~
        help: write a string in quotes: 'main'

      """
    ),
    (
      "steps.biuld.outputs.version == '1'",
      """
      p:1:7: error: unknown step 'biuld'
       1 | steps.biuld.outputs.version == '1'
         |       ^~~~~
        help: did you mean 'build'?

      """
    ),
    (
      "steps.build.outputs.verson == '1'",
      """
      p:1:21: error: 'steps.build.outputs' has no member 'verson'
       1 | steps.build.outputs.verson == '1'
         |                     ^~~~~~
        help: did you mean 'version'?

      """
    ),
    (
      "steps.later.outcome == 'failed'",
      """
      p:1:1: error: the outputs of 'later' are not there yet
       1 | steps.later.outcome == 'failed'
         | ^~~~~~~~~~~
        help: add it to 'depends_on'

      """
    ),
    (
      "steps['buidl'].outcome == ''",
      """
      p:1:7: error: unknown step 'buidl'
       1 | steps['buidl'].outcome == ''
         |       ^~~~~~~
        help: did you mean 'build'?

      """
    ),
    (
      "secrets.TOKEN == 'x'",
      """
      p:1:1: error: 'secrets' cannot be used here
       1 | secrets.TOKEN == 'x'
         | ^~~~~~~~~~~~~
        help: pass the secret through 'env', and use the variable

      """
    ),
    (
      "toJSON(steps) == ''",
      """
      p:1:8: error: 'steps' cannot be used on its own
       1 | toJSON(steps) == ''
         |        ^~~~~
        help: name a step: steps.ID.outputs.NAME

      """
    ),
    (
      "startWith(params.version, 'v') && sucess()",
      """
      p:1:1: error: unknown function 'startWith'
       1 | startWith(params.version, 'v') && sucess()
         | ^~~~~~~~~
        help: did you mean 'startsWith'?
      p:1:35: error: unknown function 'sucess'
       1 | startWith(params.version, 'v') && sucess()
         |                                   ^~~~~~
        help: did you mean 'success'?

      """
    ),
  ])
  func `unknown names are told with what is close`(text: String, report: String) {
    #expect(faults(text) == report)
  }

  @Test(arguments: [
    ("params.version", "p:1:1: error: the condition must be true or false, not a string"),
    ("'yes'", "p:1:1: error: the condition must be true or false, not a string"),
    ("params.count && true", "p:1:1: error: '&&' takes true or false, not a number"),
    ("true || params.tag", "p:1:9: error: '||' takes true or false, not a string or null"),
    ("!params.version", "p:1:2: error: '!' takes true or false, not a string"),
    ("params.version ? true : false", "p:1:1: error: '?:' takes true or false, not a string"),
    ("params.count == '3'", "p:1:1: error: cannot compare 'params.count' (a number) with a string"),
    ("'3' != params.count", "p:1:1: error: cannot compare a string with 'params.count' (a number)"),
    ("params.tag == 3", "p:1:1: error: cannot compare 'params.tag' (a string) with a number"),
    ("params.tag != ''", "p:1:1: error: 'params.tag' may be null, which is not ''"),
    (
      "params.tag in [1, 2]",
      "p:1:1: error: a string or null is never in a list whose items are a number"
    ),
    (
      "params.count == params.tag",
      "p:1:1: error: cannot compare 'params.count' (a number) with 'params.tag' (a string)"
    ),
    ("params.fast < true", "p:1:1: error: '<' takes two numbers or two strings, not true or false"),
    ("params.count <= 'x'", "p:1:1: error: cannot compare 'params.count' (a number) with a string"),
    (
      "params.targets == 'a'",
      "p:1:1: error: cannot compare 'params.targets' (a list) with a string"
    ),
    (
      "'a' in params.version", "p:1:8: error: 'in' takes a list or a map on its right, not a string"
    ),
    (
      "1 in params.targets",
      "p:1:1: error: a number is never in a list whose items are a string"
    ),
    ("1 in params", "p:1:1: error: the index must be a string, not a number"),
    (
      "params.targets.a == ''",
      "p:1:1: error: 'params.targets' is a list, and only a map has members"
    ),
    ("params.targets['a'] == ''", "p:1:16: error: the index must be a number, not a string"),
    (
      "params.version[0] == ''",
      "p:1:1: error: 'params.version' is a string, and only a list or a map has items"
    ),
    (
      "steps.test.outputs.version == ''",
      "p:1:1: error: 'steps.test.outputs' is a list, and only a map has members"
    ),
    (
      "len(1) > 0",
      "p:1:5: error: 'value' of 'len' must be a string, a list or a map, not a number"
    ),
    ("contains('a', 1)", "p:1:15: error: 'part' of 'contains' must be a string, not a number"),
    (
      "contains(params.targets, 1)",
      "p:1:26: error: a number is never in a list whose items are a string"
    ),
    (
      "join([[1]]) == ''",
      "p:1:6: error: 'join' takes a list of strings, numbers, true or false, but this list contains a list"
    ),
    ("lower() == ''", "p:1:1: error: 'lower' takes 1 argument, not 0"),
    ("join('a', 'b', 'c') == ''", "p:1:1: error: 'join' takes 1 or 2 arguments, not 3"),
    ("success(1)", "p:1:1: error: 'success' takes no arguments, not 1"),
    ("hashFiles() == ''", "p:1:1: error: 'hashFiles' takes at least 1 argument, not 0"),
    ("params[1] == ''", "p:1:8: error: the index must be a string, not a number"),
  ])
  func `types that do not fit are told where they do not`(text: String, first: String) {
    #expect(faults(text).split(separator: "\n").first.map(String.init) == first)
  }

  @Test func `null may be compared with anything`() {
    for text in ["params.version == null", "null != params.targets", "params.tag == 'x'"] {
      #expect(faults(text) == "")
    }
  }

  @Test(arguments: [
    ("params.count == '3'", "without quotes it is a number: 3"),
    ("params.fast != 'true'", "without quotes it is true or false: true"),
    ("3 == params.version", "in quotes it is a string: '3'"),
    ("params.tag == true", "in quotes it is a string: 'true'"),
    (
      "params.tag == params.count",
      "fromJSON(x) is the value that a string such as '1' or 'true' stands for"
    ),
    ("params.targets == 'a'", "'in' looks for an item: x in list"),
    (
      "params.tag != ''",
      "params.tag ?? '' != '' tests for both, params.tag != null for null only"
    ),
  ])
  func `values that cannot be compared come with a way to compare them`(
    text: String, help: String
  ) {
    #expect(faults(text).hasSuffix("\n  help: \(help)\n"))
  }

  @Test func `what may be null is compared with an empty string behind a default`() {
    #expect(faults("params.tag ?? '' == ''") == "")
    #expect(faults("params.tag == null || params.tag == 'x'") == "")
  }

  @Test func `status functions belong into conditions`() {
    var scope = SampleScope()
    scope.allowsStatusFunctions = false
    #expect(
      faults("failure()", scope) == """
        p:1:1: error: 'failure()' can be used only in 'if'
         1 | failure()
           | ^~~~~~~~~

        """)
  }

  @Test(arguments: [
    (
      "fromJSON('{').x == 1",
      """
      p:1:10: error: the string is not JSON: a name is missing at byte 2
       1 | fromJSON('{').x == 1
         |          ^~~

      """
    ),
    (
      "fromJSON('{\"vresion\": 1}').version == 1",
      """
      p:1:28: error: 'fromJSON('{"vresion": 1}')' has no member 'version'
       1 | fromJSON('{"vresion": 1}').version == 1
         |                            ^~~~~~~
        help: did you mean 'vresion'?

      """
    ),
    (
      "params.targets[2] == 'a'",
      """
      p:1:16: error: item 2 does not exist in a list of 2 items
       1 | params.targets[2] == 'a'
         |                ^
        help: the first item is number 0

      """
    ),
    (
      "env.NOT_SET == ''",
      """
      p:1:1: error: unknown variable 'NOT_SET'
       1 | env.NOT_SET == ''
         | ^~~~~~~~~~~

      """
    ),
    (
      "fromJSON('1') == 'a'",
      """
      p:1:1: error: cannot compare 'fromJSON('1')' (a number) with a string
       1 | fromJSON('1') == 'a'
         | ^~~~~~~~~~~~~~~~~~~~

      """
    ),
    (
      "fromJSON('1') || true",
      """
      p:1:1: error: '||' takes true or false, not a number
       1 | fromJSON('1') || true
         | ^~~~~~~~~~~~~
        help: compare: x != 0

      """
    ),
    (
      "startsWith(params.tag, 'v')",
      """
      p:1:12: error: 'text' of 'startsWith' must be a string, not null
       1 | startsWith(params.tag, 'v')
         |            ^~~~~~~~~~

      """
    ),
    (
      "matches('a', '(a') || matches('a', params.version)",
      """
      p:1:14: error: the pattern is invalid: '(' is not closed; write '\\(' for the character
       1 | matches('a', '(a') || matches('a', params.version)
         |              ^~~~

      """
    ),
    (
      "split('a', '') == []",
      """
      p:1:12: error: the separator must not be empty
       1 | split('a', '') == []
         |            ^~

      """
    ),
    (
      "hashFiles('a', 'broken') == ''",
      """
      p:1:1: error: cannot read 'broken'
       1 | hashFiles('a', 'broken') == ''
         | ^~~~~~~~~~~~~~~~~~~~~~~~

      """
    ),
  ])
  func `a value that does not fit is told with its place`(text: String, report: String) {
    #expect(evaluated(text) == report)
  }

  @Test(arguments: [
    ("nothing", "a value is missing"), ("[1,]", "a value is missing"), ("[1 2]", "',' or ']'"),
    ("{\"a\" 1}", "':' is missing"), ("{\"a\": 1 \"b\"}", "',' or '}'"),
    ("1 2", "unexpected content"),
    ("{\"a\": 1, \"a\": 2}", "a duplicate name"), ("\"a", "an unclosed string"),
    ("01", "not a number"), ("1e999", "too large"), ("\"\\q\"", "an unknown escape"),
    ("9007199254740993", "too large to be represented exactly"),
    ("\"\\ud800\"", "an unknown escape"), ("nul", "a value"),
    (String(repeating: "[", count: 70), "more than 64 levels"),
  ])
  func `JSON is read strictly`(text: String, reason: String) {
    #expect(evaluated("fromJSON('\(text)')").contains(reason))
  }
}

struct ExpressionLimitTests {
  @Test func `64 levels are the limit`() {
    let deep = String(repeating: "(", count: 64) + "true" + String(repeating: ")", count: 64)
    #expect(
      faults(deep).hasPrefix(
        "p:1:65: error: the expression is nested more than 64 levels deep, which is the limit"))
    #expect(faults(String(repeating: "!", count: 63) + "true") == "")
    for text in ["!", "(", "[", "len(", "true ? ", "x.a[", "a[", "true ? true : "] {
      #expect(faults(String(repeating: text, count: 9000)).contains("64 levels"), "\(text)")
    }
    #expect(faults("env" + String(repeating: ".a", count: 9000)).contains("64 levels"))
    #expect(faults("env" + String(repeating: "[0]", count: 9000)).contains("64 levels"))
  }

  @Test func `64 KiB are the limit`() {
    let chain = Array(repeating: "true", count: 8000).joined(separator: " && ")
    #expect(faults(chain) == "")
    #expect(evaluated(chain) == "true")
    #expect(folded("success() && " + chain + " && failure()") == "success() && failure()")
    #expect(
      faults(chain + " && " + chain).hasPrefix(
        "p:1:1: error: the expression is longer than 64 KiB, which is the limit"))
    #expect(faults("'" + String(repeating: "a", count: 70_000) + "' == ''").contains("64 KiB"))
  }

  @Test func `results have a limit`() {
    let big = "upper('" + String(repeating: "a", count: 60_000) + "')"
    var bindings = afterwards
    bindings.values[.env] = [("BIG", .string(String(repeating: "a", count: 1 << 20)))]
    let list = Array(repeating: "env.BIG", count: 20).joined(separator: ", ")
    #expect(evaluated("len(\(big))") == "60000")
    #expect(evaluated("join([\(list)])", bindings).contains("longer than 16 MiB"))
    #expect(evaluated("toJSON([\(list)])", bindings).contains("longer than 16 MiB"))
  }
}
