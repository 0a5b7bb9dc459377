// One file with tests: its cases are planned and rehearsed. Nothing is printed here.

import Diagnostics
import Execution
import Glibc
import Pipelines
import Plans
import Reporting
import RunFiles

/// A file with tests, and the results of its cases.
struct TestedFile {
  let path: String
  let bytes: [UInt8]
  let pipeline: String
  var results: [CaseResult] = []

  var faultCount: Int { results.count { !$0.isOK } }

  var sources: SourceMap {
    var sources = SourceMap()
    sources.add(path: path, bytes: bytes)
    return sources
  }

  /// The number of faults for which nothing can be written into the file.
  var lastingFaultCount: Int { results.reduce(0) { $0 + $1.faults.count { !$0.canBeWritten } } }

  /// The faults as messages about the file, in its order.
  func diagnostics(lastingOnly: Bool) -> [Diagnostic] {
    results.flatMap(\.faults).filter { !lastingOnly || !$0.canBeWritten }.map {
      Diagnostic($0.message, at: $0.span)
    }
    .sorted { $0.primary.span.start < $1.primary.span.start }
  }

  /// Rehearses all cases; the pipeline has been read.
  init(
    _ path: String, bytes: [UInt8], _ tests: TestFile, pipeline: String, _ loaded: LoadedPipeline
  ) {
    self.path = path
    self.bytes = bytes
    self.pipeline = pipeline
    results = tests.cases.map { Self.result(of: $0, loaded) }
  }

  private static func result(of test: TestCase, _ loaded: LoadedPipeline) -> CaseResult {
    do throws(PlanningFailure) {
      let plan = try loaded.plan(options(of: test))
      let record = CaseRecord(plan)
      var stubs: [String: TestStub] = [:]
      for (name, stub, _) in test.stubs { stubs[name] = stub }
      var options = RunOptions(runID: "test", directory: nowhere())
      options.secrets = secrets(loaded.secrets, test)
      let rehearsed = rehearse(plan, stubs, options, observer: record)
      return CaseResult(
        test, record, commands: rehearsed.commands.mapValues { ($0.text, $0.variables) })
    } catch {
      let (status, message) = error.answer
      return CaseResult(test, exitStatus: status, message: message)
    }
  }

  /// The options for planning a case, which are the same on every machine.
  private static func options(of test: TestCase) -> PlanningOptions {
    var options = PlanningOptions(
      processorCount: 4, maxParallel: test.jobs, selection: test.selection)
    options.parameters = test.parameters.map { ParameterArgument(name: $0.name, value: $0.value) }
    options.inherited = InheritedVariables(
      Dictionary(test.environment.map { ($0.name, $0.value) }) { $1 })
    options.files = .system
    options.host.name = "test"
    options.host.architecture = "x86_64"
    options.host.processorCount = 4
    return options
  }

  /// The values of secrets: the variables of the case, and otherwise placeholders.
  private static func secrets(_ sources: [SecretSource], _ test: TestCase) -> Secrets {
    var values: [String: String] = [:]
    for source in sources {
      let given = test.environment.last { $0.name == source.name }?.value
      values[source.name] = given ?? (source.isRequired ? "the secret \(source.name)" : nil)
    }
    return Secrets(values)
  }

  /// A directory in which no file can be made or removed.
  private static func nowhere() -> RunDirectory {
    let folder = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    return RunDirectory(owning: folder, path: "/proc")
  }
}

extension PlanningFailure {
  /// The exit status of a run, and the first message.
  fileprivate var answer: (status: Int32, message: String) {
    switch self {
    case .invalid(let diagnostics, let sources):
      guard let first = diagnostics.first else { return (ExitStatus.invalidPipeline, "invalid") }
      let position = sources.position(of: first.primary.span)
      return (ExitStatus.invalidPipeline, "\(position.path):\(position.line): \(first.message)")
    case .unknownSteps(let steps):
      return (ExitStatus.usage, steps.map(\.message).joined(separator: "; "))
    case .emptySelection(let message, _): return (ExitStatus.emptySelection, message)
    case .badParameters(let faults):
      return (ExitStatus.usage, faults.messages.joined(separator: "; "))
    }
  }
}

// Replaces expectations by what happened.
extension TestedFile {
  /// The file with all unmet expectations replaced; nil if cases share one, and different things
  /// happened in them.
  var updated: [UInt8]? {
    var edits: [Range<Int>: String] = [:]
    for result in results {
      var changes: [(range: Range<Int>, text: String)] = result.faults.compactMap { fault in
        replacement(of: fault).map { (fault.span.range, $0) }
      }
      if !result.test.hasExpectations { changes.append(proposal(of: result)) }
      for (range, text) in changes {
        // A text in the file may be a part of several cases.
        guard edits.updateValue(text, forKey: range) ?? text == text else { return nil }
      }
    }
    var text = bytes
    var end = bytes.count
    for (range, replacement) in edits.sorted(by: { $0.key.lowerBound > $1.key.lowerBound }) {
      guard range.upperBound <= end else { return nil }
      text.replaceSubrange(range, with: Array(replacement.utf8))
      end = range.lowerBound
    }
    return text
  }

  /// The replacement for an expected value. Below `|` and `>`, its lines are indented, and not in quotes.
  private func replacement(of fault: CaseResult.Fault) -> String? {
    let written = bytes[fault.span.range]
    guard let text = fault.text, let actual = fault.actual, written.contains(10) else {
      return fault.actual
    }
    let isOneLine = written.firstIndex(of: 10) == written.endIndex - 1
    if isOneLine {
      return lines(of: text, indent: column(of: Int(fault.span.start)))
    }
    let end = written.last == 10 ? "\n" : ""
    guard written.last == 10,
      written.first == UInt8(ascii: "|") || written.first == UInt8(ascii: ">"),
      let block = block(of: text, below: written)
    else { return actual + end }
    return block
  }

  /// The value as a block, header included; nil if a block would change its spaces and line breaks.
  private func block(of text: String, below written: ArraySlice<UInt8>) -> String? {
    let isPlain = text.split(separator: "\n", omittingEmptySubsequences: false).allSatisfy {
      $0.first != " " && !$0.utf8.contains { $0 < 32 }
    }
    guard isPlain, !text.isEmpty, !text.hasPrefix("\n"), !text.hasSuffix("\n\n") else { return nil }
    let indent = written.drop { $0 != 10 }.dropFirst().prefix { $0 == UInt8(ascii: " ") }.count
    let spaces = String(repeating: " ", count: indent)
    return (text.hasSuffix("\n") ? "|\n" : "|-\n") + spaces + lines(of: text, indent: indent)
  }

  /// The text with all of its lines but the first indented.
  private func lines(of text: String, indent: Int) -> String {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let kept = lines.last?.isEmpty == true ? lines.dropLast() : lines[...]
    return kept.joined(separator: "\n" + String(repeating: " ", count: indent)) + "\n"
  }

  /// The number of bytes before an offset in its line.
  private func column(of offset: Int) -> Int {
    var start = offset
    while start > 0, bytes[start - 1] != 10 { start -= 1 }
    return offset - start
  }

  private func proposal(of result: CaseResult) -> (range: Range<Int>, text: String) {
    let start = Int(result.test.span.start)
    if bytes[start] == UInt8(ascii: "{") {
      let outcomes = result.proposal.dropFirst(2).map { $0.drop { $0 == " " } }
      var text = ", expect: {\(result.proposal[0])"
      if !outcomes.isEmpty { text += ", outcomes: {\(outcomes.joined(separator: ", "))}" }
      let end = Int(result.test.span.end) - 1
      return (end..<end, text + "}")
    }
    var end = Int(result.test.span.end)
    while end > start, [10, 13, 32].contains(bytes[end - 1]) { end -= 1 }
    while end < bytes.count, bytes[end] != 10 { end += 1 }
    let indent = String(repeating: " ", count: column(of: Int(result.test.firstKey.start)))
    let lines = ["expect:"] + result.proposal.map { "  " + $0 }
    return (end..<end, lines.map { "\n\(indent)\($0)" }.joined())
  }
}
