// Tests of a pipeline, as the file `NAME.test.yml` says them: what is given, and what is expected. It
// decides nothing.

package import Diagnostics
package import Expressions
package import Scheduling

/// A file of tests.
package struct TestFile: Sendable {
  /// The pipeline, relative to the file; nil means the one beside it.
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
  /// What commands do, by the ids of their steps.
  package var stubs: [(name: String, stub: TestStub, span: Span)] = []
  package var expectations: [Expectation] = []
  /// The case as a whole.
  package var span: Span
  /// Where its first key is written.
  package var firstKey: Span
  /// True if the file says what is expected.
  package var hasExpectations = false

  package init(span: Span, firstKey: Span) {
    self.span = span
    self.firstKey = firstKey
  }
}

/// What a command does when it is started.
package struct TestStub: Sendable {
  /// How it ends.
  package enum End: Hashable, Sendable {
    case exit(Int32)
    case signal(Int32)
  }

  package var end = End.exit(0)
  /// Nil means what `expected` of the step says, or 1 s.
  package var duration: Nanoseconds?
  /// The number of attempts that end like this before one succeeds; nil means all.
  package var failures: Int?
  package var outputs: [(name: String, value: Value)] = []

  package init() {}
}

/// One thing that is expected of a run.
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
  /// The value that is expected.
  package let span: Span
  /// The name of the step that it is about, if that is a key.
  package let nameSpan: Span?

  package init(_ kind: Kind, span: Span, nameSpan: Span? = nil) {
    self.kind = kind
    self.span = span
    self.nameSpan = nameSpan
  }
}
