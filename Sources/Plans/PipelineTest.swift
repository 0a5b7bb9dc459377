// Tests of a pipeline, as the file `NAME.test.yml` specifies them: what is given, and what is
// expected. It decides nothing.

package import Diagnostics
package import Expressions
package import Scheduling

/// A file of tests.
package struct TestFile: Sendable {
  /// The path of the pipeline, relative to the file; nil means the one beside it.
  package var pipeline: String?
  package var cases: [TestCase] = []

  package init() {}
}

/// One run that is rehearsed.
package struct TestCase: Sendable {
  package var name = ""
  package var parameters: [(name: String, value: String)] = []
  package var environment: [(name: String, value: String)] = []
  /// The steps that are named on the command line.
  package var selection: [String] = []
  /// The width of the default queue, as by `-j`.
  package var jobs: Int?
  /// The stubs of commands, by the ids of their steps.
  package var stubs: [(name: String, stub: TestStub, span: Span)] = []
  package var expectations: [Expectation] = []
  /// The location of the whole case.
  package var span: Span
  /// The location of its first key.
  package var firstKey: Span
  /// True if the file specifies expectations.
  package var hasExpectations = false

  package init(span: Span, firstKey: Span) {
    self.span = span
    self.firstKey = firstKey
  }
}

/// The behaviour of a command when it is started.
package struct TestStub: Sendable {
  /// The end of a command.
  package enum End: Hashable, Sendable {
    case exit(Int32)
    case signal(Int32)
  }

  package var end = End.exit(0)
  /// The duration; nil means that of `expected` of the step, or 1 s.
  package var duration: Nanoseconds?
  /// The number of attempts that end like this before one succeeds; nil means all.
  package var failures: Int?
  package var outputs: [(name: String, value: Value)] = []

  package init() {}
}

/// One fact that is expected of a run.
package struct Expectation: Sendable {
  package enum Kind: Sendable {
    case exit(Int)
    /// A part of the message about why nothing ran.
    case error(String)
    case outcome(step: String, String)
    /// The steps start one after the other.
    case order([String])
    case blockedBy(step: String, String)
    /// The hooks that ran, in order.
    case hooks([String])
    case attempts(step: String, Int)
    case command(step: String, String)
    case variable(step: String, name: String, String)
    case output(name: String, Value)
    case longest(Nanoseconds)
  }

  package let kind: Kind
  /// The location of the expected value.
  package let span: Span
  /// The location of the step's name, if that is a key.
  package let nameSpan: Span?

  package init(_ kind: Kind, span: Span, nameSpan: Span? = nil) {
    self.kind = kind
    self.span = span
    self.nameSpan = nameSpan
  }
}
