// The values of late expressions: a scope, and what the run knows.

import Scheduling

struct LateBindings<Facts: RunFacts>: ExpressionBindings {
  let scope: LateScope
  let facts: Facts

  func member(_ name: String, of root: ContextRoot) -> Resolution {
    switch root {
    case .steps: scope.steps[name].map { .known(value(of: $0)) } ?? .known(absent)
    case .matrix: scope.matrix.map { .known($0[name] ?? .null) } ?? .missing
    case .params: parameter(name)
    case .run: facts.runMember(name).map { .known(.string($0)) } ?? .missing
    case .secrets: .known(facts.secret(name).map { .string($0) } ?? .null)
    case .env, .host: .missing
    }
  }

  func value(of root: ContextRoot) -> Resolution {
    guard root == .matrix, let matrix = scope.matrix else { return .later }
    return .known(.map(matrix))
  }

  var dependencyEndings: [Ending]? {
    scope.dependencies.map { facts.ending(of: $0) ?? Ending(.skipped) }
  }

  func hashFiles(_ patterns: [String]) throws(FaultWords) -> String? {
    try facts.hashFiles(patterns)
  }

  func exists(_ path: String) throws(FaultWords) -> Bool? { try facts.exists(path) }

  /// Of a step that was not selected.
  private var absent: Value {
    .map(ValueMap([("outputs", .map(ValueMap())), ("outcome", .string(Outcome.skipped.word))]))
  }

  private func value(of step: OperationID) -> Value {
    let outputs: Value =
      if let instances = facts.instances(of: step) {
        .list(
          instances.map { instance, matrix in
            .map(
              ValueMap([
                ("matrix", .map(matrix)), ("outcome", outcome(of: instance)),
                ("outputs", .map(facts.outputs(of: instance))),
              ]))
          })
      } else {
        .map(facts.outputs(of: step))
      }
    return .map(ValueMap([("outputs", outputs), ("outcome", outcome(of: step))]))
  }

  private func outcome(of step: OperationID) -> Value {
    .string((facts.ending(of: step)?.outcome ?? .skipped).word)
  }

  /// Of a nested pipeline: what the using step gives it.
  private func parameter(_ name: String) -> Resolution {
    guard let model = scope.params[name], let outer = scope.outer else { return .missing }
    let value = try? LateBindings(scope: outer, facts: facts).value(of: model)
    return value.map { .known($0) } ?? .missing
  }
}

extension LateBindings {
  func text(of text: Text) throws(EvaluationFailure) -> String {
    switch text {
    case .plain(let text): text
    case .template(let template): try template.rendered(with: self)
    }
  }

  func value(of model: ValueModel) throws(EvaluationFailure) -> Value {
    switch model {
    case .constant(let value): return value
    case .template(let template):
      if let single = template.single { return try single.evaluated(with: self) }
      return .string(try template.rendered(with: self))
    case .list(let items):
      var values: [Value] = []
      for item in items { values.append(try value(of: item)) }
      return .list(values)
    case .map(let members):
      var map = ValueMap()
      for member in members { map[member.name] = try value(of: member.value) }
      return .map(map)
    }
  }

  /// `isScript`: the text goes to a shell.
  func action(
    of command: CommandModel, shell: [String], isScript: Bool = true
  ) throws(EvaluationFailure) -> Action {
    switch command {
    case .script(.plain(let text)): return .script(text)
    case .script(.template(let template)):
      if !isScript { return .script(try template.rendered(with: self)) }
      let language = StepSettings.language(of: shell)
      return .script(try template.renderedScript(for: language, with: self))
    case .arguments(let words):
      var texts: [String] = []
      for word in words { texts.append(try text(of: word)) }
      return .arguments(texts)
    case .uses(let uses):
      var members: [MemberModel] = []
      for member in uses.with {
        let value = try value(of: member.value)
        members.append(MemberModel(name: member.name, span: member.span, value: .constant(value)))
      }
      return UsesModel(kind: uses.kind, span: uses.span, with: members).action { $0.shown }
    }
  }
}

extension Outcome {
  /// As expressions and hooks see it: `timed_out`.
  package var word: String {
    switch self {
    case .succeeded: "succeeded"
    case .cached: "cached"
    case .failed: "failed"
    case .timedOut: "timed_out"
    case .cancelled: "cancelled"
    case .skipped: "skipped"
    case .blocked: "blocked"
    }
  }
}
