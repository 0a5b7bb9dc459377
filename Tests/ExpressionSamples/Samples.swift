// How these tests evaluate expressions: existing names, their values, and functions from string to
// string.

package import Diagnostics
package import Expressions

/// A pipeline's names: parameters, steps `build` and `test`, a matrix.
package struct SampleScope: ExpressionScope {
  package var allowsStatusFunctions = true
  package var allowsSecrets = false

  package init() {}

  private let types: [ContextRoot: [(String, ExpressionType)]] = [
    .params: [
      ("version", .string), ("count", .number), ("fast", .bool), ("tag", .string.optional),
      ("targets", .list(of: .string)),
    ],
    .steps: [
      (
        "build",
        .map([("outcome", .string), ("outputs", .map([("version", .string), ("size", .number)]))])
      ),
      ("my-step", .map([("outcome", .string), ("outputs", .map([], isOpen: true))])),
      (
        "test",
        .map([
          ("outcome", .string),
          (
            "outputs",
            .list(
              of: .map([("matrix", .openMap), ("outcome", .string), ("outputs", .openMap)]))
          ),
        ])
      ),
    ],
    .matrix: [("os", .string), ("swift", .number)],
    .run: [("id", .string)],
    .host: [("os", .string), ("cpus", .number)],
    .secrets: [("TOKEN", .string)],
  ]

  package func objection(to root: ContextRoot) -> UnlocatedFailure? {
    root == .secrets && !allowsSecrets ? unavailable(root) : nil
  }

  package func member(_ name: String, of root: ContextRoot) -> ScopeMember {
    if root == .env { return .known(.string) }
    if root == .steps, name == "later" {
      return .refused(
        UnlocatedFailure(
          "the outputs of 'later' are not there yet", help: "add it to 'depends_on'"))
    }
    return types[root]?.first { $0.0 == name }.map { .known($0.1) } ?? .unknown
  }

  package func suggestion(for name: String, of root: ContextRoot) -> String? {
    Diagnostics.suggestion(for: name, among: types[root]?.map(\.0) ?? [])
  }

  package func type(of root: ContextRoot) -> ExpressionType? {
    root == .params || root == .matrix || root == .env ? .openMap : nil
  }
}

/// Values of the same names. Missing ones are not known yet.
package struct SampleBindings: ExpressionBindings {
  package var values: [ContextRoot: [(String, Value)]] = [
    .params: [
      ("version", .string("1.2")), ("count", .number(3)), ("fast", .bool(true)), ("tag", .null),
      ("targets", .list([.string("a"), .string("b c")])),
    ],
    .matrix: [("os", .string("linux")), ("swift", .number(6.3))],
    .env: [("HOME", .string("/root")), ("EMPTY", .string(""))],
  ]
  package var later: Set<ContextRoot> = [.steps, .run, .host, .secrets]
  package var dependencyStatus: DependencyStatus?
  package var looksAtFiles = false

  package init() {}

  package func member(_ name: String, of root: ContextRoot) -> Resolution {
    if later.contains(root) { return .later }
    return values[root]?.first { $0.0 == name }.map { .known($0.1) } ?? .missing
  }

  package func value(of root: ContextRoot) -> Resolution {
    later.contains(root) ? .later : .known(.map(ValueMap(values[root] ?? [])))
  }

  package func hashFiles(_ patterns: [String]) throws(UnlocatedFailure) -> String? {
    guard looksAtFiles else { return nil }
    if patterns.contains("broken") { throw UnlocatedFailure("cannot read 'broken'") }
    return "e2d0fe1585a63ec6009c8016ff8dda8b17719a637405a4e23c0ff81339148249"
  }

  package func exists(_ path: String) throws(UnlocatedFailure) -> Bool? {
    looksAtFiles ? path == "README.md" : nil
  }
}

/// The values when steps have ended.
package let afterwards: SampleBindings = {
  var bindings = SampleBindings()
  bindings.later = []
  bindings.values[.steps] = [
    (
      "build",
      .map(
        ValueMap([
          ("outcome", .string("succeeded")),
          (
            "outputs", .map(ValueMap([("version", .string("1.2.3")), ("size", .number(5))]))
          ),
        ]))
    ),
    ("my-step", .map(ValueMap([("outputs", .map(ValueMap([("x-y", .string("z"))])))]))),
  ]
  bindings.dependencyStatus = DependencyStatus(
    isSuccess: false, isFailure: true, isCancelled: false)
  bindings.looksAtFiles = true
  return bindings
}()

/// A file that consists of one string.
package struct SampleFile {
  package let sources: SourceMap
  package let bytes: [UInt8]
  package let origin: TextOrigin

  package init(_ text: String) {
    bytes = Array(text.utf8)
    var sources = SourceMap()
    sources.add(path: "p", bytes: bytes)
    self.sources = sources
    origin = TextOrigin(Span(start: 0, end: bytes.count))
  }

  package func report(_ log: inout DiagnosticLog) -> String {
    var text = render(log.sorted(), in: sources)
    // The line that counts errors is always the same.
    if let end = text.split(separator: "\n").last { text.removeLast(end.utf8.count + 1) }
    return text
  }

  /// The checked condition, or what is wrong.
  package func expression(_ scope: SampleScope = SampleScope()) -> Result<Expression, Report> {
    var log = DiagnosticLog()
    let expression = sources.withText(at: origin.span) { source in
      let expression = Expression(parsingCondition: bytes[...], origin, in: source, log: &log)
      expression?.check(in: scope, source, log: &log)
      return expression
    }
    guard let expression, log.isEmpty else { return .failure(Report(text: report(&log))) }
    return .success(expression)
  }
}

package struct Report: Error {
  package let text: String
}

/// The value as it could be written in an expression, or the rendered error.
package func evaluated(_ text: String, _ bindings: SampleBindings = afterwards) -> String {
  let file = SampleFile(text)
  switch file.expression() {
  case .failure(let report): return report.text
  case .success(let expression):
    do throws(EvaluationFailure) {
      return try expression.evaluated(with: bindings).literal
    } catch {
      var log = DiagnosticLog()
      log.report(error.diagnostic(in: file.sources))
      return file.report(&log)
    }
  }
}

/// What is left after folding, as text, or the rendered error.
package func folded(_ text: String, _ bindings: SampleBindings = SampleBindings()) -> String {
  let file = SampleFile(text)
  switch file.expression() {
  case .failure(let report): return report.text
  case .success(let expression):
    do throws(EvaluationFailure) {
      return try expression.folded(with: bindings).description
    } catch {
      var log = DiagnosticLog()
      log.report(error.diagnostic(in: file.sources))
      return file.report(&log)
    }
  }
}

/// What is wrong with a condition; empty if nothing is.
package func faults(_ text: String, _ scope: SampleScope = SampleScope()) -> String {
  let file = SampleFile(text)
  var log = DiagnosticLog()
  file.sources.withText(at: file.origin.span) { source in
    Expression(parsingCondition: file.bytes[...], file.origin, in: source, log: &log)?
      .checkCondition(in: scope, source, log: &log)
  }
  return log.isEmpty ? "" : file.report(&log)
}
