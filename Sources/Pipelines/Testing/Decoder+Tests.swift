// Reads a file with tests of a pipeline, by the same rules and with the same messages as a
// pipeline.

package import Diagnostics
import Expressions
package import Plans
import Scheduling

/// Reads a file with tests; throws all its faults.
package func readTests(path: String, bytes: [UInt8]) throws(TestFileFailure) -> TestFile {
  var sources = SourceMap()
  let start = sources.add(path: path, bytes: bytes)
  var log = DiagnosticLog()
  let file = bytes.withUnsafeBufferPointer { buffer -> TestFile in
    let mark = buffer.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    let text = UnsafeBufferPointer(rebasing: buffer[mark...])
    let tree = Tree(source: text, base: start + mark)
    var decoder = Decoder(bytes: bytes, start: start, tree: tree, log: log)
    do throws(Diagnostic) {
      let check = try TextCheck(text, base: start + mark)
      var reader = TreeReader(text, check: check, base: start + mark)
      while try reader.nextStep(into: &decoder.tree) != nil {}
      let file = decoder.testFile(root: 0)
      log = decoder.log
      return file
    } catch {
      log.report(error)
      return TestFile()
    }
  }
  guard log.isEmpty else {
    throw TestFileFailure(diagnostics: log.sorted(), sources: sources)
  }
  return file
}

/// The failure for a file with tests that is not valid.
package struct TestFileFailure: Error {
  package let diagnostics: [Diagnostic]
  package let sources: SourceMap
}

extension Decoder {
  fileprivate mutating func testFile(root: NodeIndex) -> TestFile {
    var file = TestFile()
    guard let map = map(root, KeyRow(named: "a file with tests", .object(.testFile))) else {
      return file
    }
    let fields = readFields(of: map, TestFileKey.table) { _, _ in "at top level" }
    file.pipeline = fields[.pipeline].flatMap { filledText($0, TestFileKey.pipeline.row) }
    guard let cases = fields[.cases] else {
      if !fields.holds(.cases) {
        report(map) { DecodingMessage.missing(["cases"], "at top level", at: $0) }
      }
      return file
    }
    let list = tree.resolve(cases)
    guard tree.nodes[list].kind == .list else {
      reportType(cases, TestFileKey.cases.row)
      return file
    }
    let items = items(of: list)
    if items.isEmpty { report(list) { DecodingMessage.empty("cases", at: $0) } }
    file.cases = items.compactMap { testCase($0) }
    return file
  }

  private mutating func testCase(_ item: NodeIndex) -> TestCase? {
    guard let map = map(item, TestFileKey.cases.row.itemRow) else { return nil }
    let fields = readFields(of: map, TestCaseKey.table) { decoder, fields in
      fields[.name].map { "in case \(quoted(decoder.tree.string(decoder.tree.resolve($0))))" }
        ?? "in a case"
    }
    let isEmpty = tree.next(after: map) == map + 1
    var test = TestCase(span: span(map), firstKey: span(isEmpty ? map : map + 1))
    if let name = fields[.name] {
      test.name = filledText(name, TestCaseKey.name.row) ?? ""
    } else if !fields.holds(.name) {
      report(map) { DecodingMessage.missing(["name"], "in a case", at: $0) }
    }
    test.parameters = texts(fields[.params], TestCaseKey.params.row)
    test.environment = texts(fields[.env], TestCaseKey.env.row)
    test.selection = fields[.select].map { list($0, TestCaseKey.select.row) } ?? []
    test.jobs = fields[.jobs].flatMap { integer($0, TestCaseKey.jobs.row, in: 0...1_000_000) }
    for (name, pair) in pairs(fields[.steps], TestCaseKey.steps.row) {
      if let stub = stub(pair.value, named: name) {
        test.stubs.append((name, stub, span(pair.key)))
      }
    }
    if let expect = fields[.expect] {
      test.hasExpectations = true
      test.expectations = expectations(expect)
    }
    return test
  }

  private mutating func stub(_ value: NodeIndex, named name: String) -> TestStub? {
    var stub = TestStub()
    let node = tree.resolve(value)
    if tree.nodes[node].isScalar {
      let row = KeyRow(named: name, .either([.choice(TestStubKey.words), .object(.testStub)]))
      let ends: [String: TestStub.End] = ["succeeded": .exit(0), "failed": .exit(1)]
      guard let end = choice(value, row, ends) else { return nil }
      stub.end = end
      return stub
    }
    guard let map = map(value, KeyRow(named: name, .object(.testStub))) else { return nil }
    let fields = readFields(of: map, TestStubKey.table) { _, _ in "of step \(quoted(name))" }
    stub.failures = fields[.failures].flatMap {
      integer($0, TestStubKey.failures.row, in: 1...1_000_000)
    }
    if stub.failures != nil { stub.end = .exit(1) }
    if let exit = fields[.exit] {
      integer(exit, TestStubKey.exit.row, in: 0...255).map { stub.end = .exit(Int32($0)) }
    }
    if let signal = fields[.signal] {
      let numbers = Dictionary(
        uniqueKeysWithValues: TestStubKey.signals.map { ($0, signalNumber(named: $0) ?? 0) })
      if fields[.exit] != nil { report(keyNode(of: signal)) { TestMessage.twoEnds(at: $0) } }
      choice(signal, TestStubKey.signal.row, numbers).map { stub.end = .signal($0) }
    }
    stub.duration = fields[.duration].flatMap {
      duration($0, TestStubKey.duration.row, isZeroAllowed: true)
    }
    for (name, pair) in pairs(fields[.outputs], TestStubKey.outputs.row) {
      if let value = constantValue(pair.value, TestStubKey.outputs.row) {
        stub.outputs.append((name, value))
      }
    }
    return stub
  }

  private mutating func expectations(_ value: NodeIndex) -> [Expectation] {
    guard let map = map(value, TestCaseKey.expect.row) else { return [] }
    let fields = readFields(of: map, ExpectationKey.table) { _, _ in "in 'expect'" }
    var all: [Expectation] = []
    func add(_ kind: Expectation.Kind?, _ node: NodeIndex) {
      if let kind { all.append(Expectation(kind, span: span(node))) }
    }
    func add(_ kind: Expectation.Kind?, _ pair: Pair) {
      guard let kind else { return }
      all.append(Expectation(kind, span: span(pair.value), nameSpan: span(pair.key)))
    }
    if let node = fields[.exit] {
      add(integer(node, ExpectationKey.exit.row, in: 0...255).map { .exit($0) }, node)
    }
    if let node = fields[.error] {
      add(filledText(node, ExpectationKey.error.row).map { .error($0) }, node)
    }
    let outcomes = Dictionary(uniqueKeysWithValues: Outcome.allCases.map { ($0.word, $0.word) })
    for (step, pair) in pairs(fields[.outcomes], ExpectationKey.outcomes.row) {
      let row = KeyRow(named: step, .choice(Outcome.allCases.map(\.word)))
      add(choice(pair.value, row, outcomes).map { .outcome(step: step, $0) }, pair)
    }
    if let node = fields[.order] { add(.order(list(node, ExpectationKey.order.row)), node) }
    for (step, pair) in pairs(fields[.blockedBy], ExpectationKey.blockedBy.row) {
      add(
        text(pair.value, KeyRow(named: step, .text)).map { .blockedBy(step: step, $0) }, pair)
    }
    if let node = fields[.hooks] { add(.hooks(list(node, ExpectationKey.hooks.row)), node) }
    for (step, pair) in pairs(fields[.attempts], ExpectationKey.attempts.row) {
      let row = KeyRow(named: step, .integer(0...1_000_000))
      add(
        integer(pair.value, row, in: 0...1_000_000).map { .attempts(step: step, $0) }, pair)
    }
    for (step, pair) in pairs(fields[.commands], ExpectationKey.commands.row) {
      add(text(pair.value, KeyRow(named: step, .text)).map { .command(step: step, $0) }, pair)
    }
    for (step, variables) in pairs(fields[.env], ExpectationKey.env.row) {
      for (name, pair) in pairs(variables.value, KeyRow(named: step, .map(.text))) {
        let value = text(pair.value, KeyRow(named: name, .text))
        if let value {
          all.append(
            Expectation(
              .variable(step: step, name: name, value), span: span(pair.value),
              nameSpan: span(variables.key)))
        }
      }
    }
    for (name, pair) in pairs(fields[.outputs], ExpectationKey.outputs.row) {
      let value = constantValue(pair.value, ExpectationKey.outputs.row)
      add(value.map { .output(name: name, $0) }, pair.value)
    }
    if let node = fields[.longest] {
      add(duration(node, ExpectationKey.longest.row).map { .longest($0) }, node)
    }
    return all
  }

  /// The map, after following an alias; reports anything else.
  private mutating func map(_ value: NodeIndex, _ row: KeyRow) -> NodeIndex? {
    let node = tree.resolve(value)
    if tree.nodes[node].kind == .map { return node }
    reportType(value, row)
    return nil
  }

  private mutating func pairs(
    _ value: NodeIndex?, _ row: KeyRow
  ) -> [(name: String, pair: Pair)] {
    guard let value, let map = map(value, row) else { return [] }
    return pairs(of: map, owner: "in \(quoted(row.key))")
  }

  private mutating func texts(
    _ value: NodeIndex?, _ row: KeyRow
  ) -> [(name: String, value: String)] {
    pairs(value, row).compactMap { name, pair in
      text(pair.value, KeyRow(named: name, .text)).map { (name, $0) }
    }
  }

  private mutating func list(_ value: NodeIndex, _ row: KeyRow) -> [String] {
    let list = tree.resolve(value)
    guard tree.nodes[list].kind == .list else {
      reportType(value, row)
      return []
    }
    return items(of: list).compactMap { text($0, row.itemRow) }
  }
}

/// The messages that only files with tests need.
private enum TestMessage {
  static func twoEnds(at span: Span) -> Diagnostic {
    Diagnostic("a command ends with an exit status or by a signal, not both", at: span)
  }
}
