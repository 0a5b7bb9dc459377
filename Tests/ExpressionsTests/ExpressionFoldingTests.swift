// What is left of a condition when parameters and the matrix are known, and steps are not.

import ExpressionSamples
import Expressions
import Testing

struct ExpressionFoldingTests {
  @Test(arguments: [
    ("params.version == '1.2'", "true"), ("params.version == 'main'", "false"),
    ("matrix.os == 'linux' && params.fast", "true"),
    ("steps.build.outcome == 'failed'", "steps.build.outcome == 'failed'"),
    ("params.fast && steps.build.outcome == 'failed'", "steps.build.outcome == 'failed'"),
    ("steps.build.outcome == 'failed' && !params.fast", "false"),
    ("steps.build.outcome == 'failed' || params.fast", "true"),
    ("success() && params.fast && failure()", "success() && failure()"),
    ("success() || !params.fast || failure()", "success() || failure()"),
    ("success() && false", "false"), ("always()", "true"),
    ("!always() || cancelled()", "cancelled()"),
    ("params.fast ? steps.build.outcome : 'x'", "steps.build.outcome"),
    ("success() ? params.version : matrix.os", "success() ? '1.2' : 'linux'"),
    ("params.tag ?? steps.build.outputs.version", "steps.build.outputs.version"),
    (
      "steps.build.outputs.version ?? params.version ?? 'x'", "steps.build.outputs.version ?? '1.2'"
    ),
    ("env.NO ?? params.version", "'1.2'"),
    (
      "params.fast && fromJSON(steps.build.outputs.version)",
      "true && fromJSON(steps.build.outputs.version)"
    ),
    (
      "fromJSON(steps.build.outputs.version) || !params.fast",
      "false || fromJSON(steps.build.outputs.version)"
    ),
    (
      "false || success() || fromJSON(steps.build.outputs.version)",
      "success() || fromJSON(steps.build.outputs.version)"
    ),
    (
      "steps.build.outputs.version ?? fromJSON('{}').q ?? 'c'", "steps.build.outputs.version ?? 'c'"
    ),
    ("success() ? params.targets[9] : 2", "success() ? ['a', 'b c'][9] : 2"),
    ("success() && !fromJSON(params.version)", "success() && !1.2"),
    ("success() && fromJSON(params.version) == 'x' && params.fast", "success() && 1.2 == 'x'"),
    (
      "contains(params.targets, steps.build.outputs.version)",
      "contains(['a', 'b c'], steps.build.outputs.version)"
    ),
    ("steps.build.outputs[params.fast ? 'version' : 'x']", "steps.build.outputs['version']"),
    (
      "(success() || failure()) && !(cancelled() && success())",
      "(success() || failure()) && !(cancelled() && success())"
    ),
    ("!(!success())", "!!success()"),
    (
      "(steps.build.outcome ?? 'x') == 'y'",
      "steps.build.outcome ?? 'x' == 'y'"
    ),
    ("hashFiles('a') == ''", "hashFiles('a') == ''"), ("exists('a')", "exists('a')"),
    ("len(params.targets) in [2, 3]", "true"), ("toJSON(params.targets)", #"'["a","b c"]'"#),
    ("fromJSON('{\"a\": 1}')", "fromJSON('{\"a\":1}')"),
    ("(success() ? 'a' : 'b') == 'a'", "(success() ? 'a' : 'b') == 'a'"),
    ("success() ? (failure() ? 1 : 2) : 3", "success() ? failure() ? 1 : 2 : 3"),
    ("params.version == \"a\\nb\" || success()", "success()"),
    ("steps.build.outcome == \"a\\nb\"", "steps.build.outcome == \"a\\nb\""),
  ])
  func `what is known is put in`(text: String, left: String) {
    #expect(folded(text) == left)
  }

  @Test func `what is left reads as the same expression`() {
    for (text, _) in ExpressionValueTests.precedence where !text.contains("== true") {
      #expect(evaluated(folded(text, nothing)) == evaluated(text), "\(text)")
    }
    #expect(
      folded(folded("success() ? (failure() ? 1 : 2) : 3")) == "success() ? failure() ? 1 : 2 : 3")
  }

  private var nothing: SampleBindings {
    var bindings = SampleBindings()
    bindings.later = Set(ContextRoot.allCases)
    return bindings
  }

  @Test func `what can never have a value is an error, unless it may never be asked for`() {
    #expect(folded("fromJSON('x') == 1").contains("the string is not JSON"))
    #expect(folded("params.fast && fromJSON('x') == 1").contains("the string is not JSON"))
    #expect(folded("success() && fromJSON('x') == 1") == "success() && fromJSON('x') == 1")
    #expect(folded("success() ? fromJSON('x') : 2") == "success() ? fromJSON('x') : 2")
    #expect(folded("false && fromJSON('x') == 1") == "false")
  }

  @Test func `parts that fail inside each other are tried once each`() {
    let text = (0..<20).reduce("success() && failure()") { text, _ in
      "success() && (\(text)) == fromJSON('x')"
    }
    #expect(folded(text) == text)
  }

  @Test func `folding goes on where it ended`() throws {
    let file = SampleFile("params.fast && steps.build.outputs.size > len(params.targets)")
    let first = try file.expression().get().folded(with: SampleBindings())
    #expect(first.description == "steps.build.outputs.size > 2")
    #expect(first.constant == nil)
    let second = try first.folded(with: afterwards)
    #expect(second.description == "true")
    #expect(second.constant == .bool(true))
    #expect(try first.evaluated(with: afterwards) == .bool(true))
  }

  @Test func `references are told`() throws {
    let file = SampleFile("params.fast && steps.my-step.outcome == env['X'] && len(matrix) > 0")
    let expression = try file.expression().get()
    #expect(
      expression.references.map { "\($0.root) \($0.member ?? "*")" } == [
        "params fast", "steps my-step", "env X", "matrix *",
      ])
    #expect(expression.uses(.steps) && !expression.uses(.secrets))
    #expect(!expression.callsStatusFunction)
    #expect(try SampleFile("!(true || failure())").expression().get().callsStatusFunction)
  }
}
