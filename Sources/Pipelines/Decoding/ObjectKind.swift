// The kinds of objects in a pipeline file, with the table of the keys of each. Add a new table
// here; then messages, the schema and the tests of the reference know it.

import Diagnostics
import Plans

/// A kind of map whose keys are those of a table.
package enum ObjectKind: String, CaseIterable, Sendable {
  case pipeline, param, secret, queue, step, defaults, dependency, retry, stop
  case allowFailure = "allow_failure"
  case wait = "wait_for"
  case background, mutex, cache
  case hook = "hook_command"
  case section = "named_pipeline"
  case slurm
  case stepSlurm = "step_slurm"
  // The kinds in a file with tests of a pipeline.
  case testFile = "tests"
  case testCase = "case"
  case testStub = "command"
  case testExpectation = "expectation"

  /// The kinds of objects in a pipeline file.
  package static let allCases: [ObjectKind] = [
    .pipeline, .param, .secret, .queue, .step, .defaults, .dependency, .retry, .stop,
    .allowFailure, .wait, .background, .mutex, .cache, .hook, .section, .slurm, .stepSlurm,
  ]
  /// The kinds of objects in a file with tests.
  package static let ofTests: [ObjectKind] = [.testFile, .testCase, .testStub, .testExpectation]

  /// The words for "must be …" in a message.
  package var words: String {
    switch self {
    case .pipeline: "a map with 'steps'"
    case .param: "a map with 'type'"
    case .secret: "a map with 'name'"
    case .step: "a map with 'id'"
    case .defaults: "a map of step keys"
    case .queue: "a map with 'max_parallel'"
    case .dependency: "a map with 'step'"
    case .retry: "a map with 'limit'"
    case .stop: "a map with 'signal' and 'grace'"
    case .allowFailure: "a map with 'exit_codes'"
    case .wait: "a map with \(inWords(alternatives.map { quoted($0) }))"
    case .background: "a map with 'ready'"
    case .mutex: "a map with 'name'"
    case .cache: "a map with 'inputs'"
    case .hook: "a map with 'run'"
    case .section: "a map with 'steps'"
    case .slurm, .stepSlurm: "a map with 'partition'"
    case .testFile: "a map with 'cases'"
    case .testCase: "a map with 'name'"
    case .testStub: "a map with 'exit', 'duration' or 'outputs'"
    case .testExpectation: "a map with 'exit' or 'outcomes'"
    }
  }

  package var rows: [KeyRow] {
    switch self {
    case .pipeline: PipelineKey.table.rows
    case .param: ParamKey.table.rows
    case .secret: SecretKey.table.rows
    case .step: StepKey.table.rows
    case .defaults:
      StepKey.allCases.filter(\.hasDefault).map { StepKey.table.rows[Int($0.rawValue)] }
    case .queue: QueueKey.table.rows
    case .dependency: DependencyKey.table.rows
    case .retry: RetryKey.table.rows
    case .stop: StopKey.table.rows
    case .allowFailure: AllowFailureKey.table.rows
    case .wait: WaitKey.table.rows
    case .background: BackgroundKey.table.rows
    case .mutex: MutexKey.table.rows
    case .cache: CacheKey.table.rows
    case .hook: HookCommandKey.table.rows
    case .section:
      PipelineKey.allCases.filter(\.isOfSection).map { PipelineKey.table.rows[Int($0.rawValue)] }
    case .slurm: SlurmKey.table.rows
    case .stepSlurm:
      SlurmKey.allCases.filter(\.isOfStep).map { SlurmKey.table.rows[Int($0.rawValue)] }
    case .testFile: TestFileKey.table.rows
    case .testCase: TestCaseKey.table.rows
    case .testStub: TestStubKey.table.rows
    case .testExpectation: ExpectationKey.table.rows
    }
  }

  /// True if `x-…` keys are allowed as well.
  package var allowsExtensions: Bool {
    switch self {
    case .pipeline, .section: PipelineKey.allowsExtensions
    case .testFile: TestFileKey.allowsExtensions
    case .param, .secret, .queue, .step, .defaults, .dependency, .retry, .stop, .allowFailure,
      .wait, .background, .mutex, .cache, .hook, .slurm, .stepSlurm, .testCase, .testStub,
      .testExpectation:
      false
    }
  }

  /// The keys by the names that other tools use.
  package var elsewhere: [String: String] {
    func names<Key: ObjectKey>(_ keys: [String: Key]) -> [String: String] {
      keys.mapValues(\.row.key)
    }
    return switch self {
    case .pipeline, .section: names(PipelineKey.elsewhere)
    case .step, .defaults: names(StepKey.elsewhere)
    case .param: names(ParamKey.elsewhere)
    case .dependency: names(DependencyKey.elsewhere)
    case .retry: names(RetryKey.elsewhere)
    case .wait: names(WaitKey.elsewhere)
    case .hook: names(HookCommandKey.elsewhere)
    case .secret, .queue, .stop, .allowFailure, .background, .mutex, .cache,
      .slurm, .stepSlurm, .testFile, .testCase, .testStub, .testExpectation:
      [:]
    }
  }

  /// The keys of which exactly one must be written.
  package var alternatives: [String] {
    switch self {
    case .step: ["run", "uses", "steps"]
    case .hook: ["run", "uses"]
    case .wait: ProbeModel.Kind.allCases.map(\.rawValue)
    case .pipeline, .param, .secret, .queue, .defaults, .dependency, .retry, .stop, .allowFailure,
      .section, .background, .mutex, .cache, .slurm, .stepSlurm, .testFile, .testCase, .testStub,
      .testExpectation:
      []
    }
  }

  /// The keys that have no meaning without another one.
  package var companions: [(key: String, needs: String)] {
    switch self {
    case .step:
      [
        ("with", "uses"), ("max_parallel", "matrix"), ("fail_fast", "matrix"),
        ("sequence", "steps"),
      ]
    case .hook: [("with", "uses")]
    case .pipeline, .param, .secret, .queue, .defaults, .dependency, .retry, .stop, .allowFailure,
      .wait, .section, .background, .mutex, .cache, .slurm, .stepSlurm, .testFile, .testCase,
      .testStub, .testExpectation:
      []
    }
  }

  /// A key that must be written if another one has a certain value, and must not be written
  /// otherwise.
  package var conditional: ConditionalKey? {
    self == .secret ? ConditionalKey(key: "path", ifKey: "from", has: "file") : nil
  }
}

package struct ConditionalKey: Sendable {
  package let key: String
  package let ifKey: String
  package let has: String
}
