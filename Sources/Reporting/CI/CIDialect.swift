// The commands that a CI runner takes out of the log. Each runner is a value that knows the syntax,
// and nothing else.

/// The commands of one CI runner.
protocol CIDialect: Sendable {
  /// The text of others that the runner would take for a command.
  var rules: CommandGuard.Rules { get }
  /// The line that begins a group; nil where its output stands outside of groups.
  func opening(of group: CIGroup) -> String?
  /// The line that ends a group. `isFailure` says how the command ended; it is false if it still runs.
  func closing(of group: CIGroup, isFailure: Bool) -> String?
  /// The lines around output in which the runner looks for no commands; the author of the output
  /// does not know `word`. Nil if the runner has no such commands, or if the output could end them.
  func fence(_ word: String) -> (before: String, after: String)?
  func annotation(_ annotation: Annotation) -> String?
  /// The line that has the runner hide a text from now on.
  func mask(_ text: String) -> String?
  /// The line in front of the summary.
  func heading(ofSummary title: String) -> String?
}

/// The output of one command in the log, or a part of it. All texts are masked, have no control
/// characters, and hold no command.
struct CIGroup {
  enum State {
    case running, succeeded, failed
  }

  /// The name of the run.
  let run: String
  /// Counts the groups of a run, from 1.
  let number: Int
  let id: String
  let title: String
  /// The state of the command when the group is opened.
  let state: State
  /// When the group was opened or closed, in seconds since 1970.
  var time: Int
}

/// A problem, with its place in the pipeline.
struct Annotation: Hashable {
  enum Level {
    case error, warning
  }

  struct Location: Hashable {
    let path: String
    let line: Int
    let column: Int
  }

  let level: Level
  /// Equal for the same problem in every run.
  let id: String
  let title: String
  let message: String
  let place: Location?
}

/// The CI runners whose commands oprun knows.
package enum CIRunner: String, CaseIterable, Sendable {
  case github, gitlab, buildkite, teamcity, azure

  /// The runner whose variables are set. `environment` returns the value of a variable.
  package static func detected(_ environment: (String) -> String?) -> CIRunner? {
    allCases.first { runner in
      environment(runner.variable).map { !["", "0", "false", "False"].contains($0) } ?? false
    }
  }

  /// The variable that the runner sets for every job.
  private var variable: String {
    switch self {
    case .github: "GITHUB_ACTIONS"
    case .gitlab: "GITLAB_CI"
    case .buildkite: "BUILDKITE"
    case .teamcity: "TEAMCITY_VERSION"
    case .azure: "TF_BUILD"
    }
  }

  /// The variable with the directory from which the runner counts paths.
  package var rootVariable: String? {
    switch self {
    case .github: "GITHUB_WORKSPACE"
    case .azure: "BUILD_SOURCESDIRECTORY"
    case .gitlab, .buildkite, .teamcity: nil
    }
  }

  /// True if the log of the CI system shows colours.
  var showsColors: Bool {
    switch self {
    case .github, .gitlab, .buildkite: true
    case .teamcity, .azure: false
    }
  }

  var dialect: any CIDialect {
    switch self {
    case .github: GitHubDialect()
    case .gitlab: GitLabDialect()
    case .buildkite: BuildkiteDialect()
    case .teamcity: TeamCityDialect()
    case .azure: AzureDialect()
    }
  }

  /// The lines that have the runner hide these texts from now on. The lines contain the texts themselves.
  package func masks(_ texts: [[UInt8]]) -> [String] {
    texts.prefix(Self.mostMasks).compactMap { text in
      String(validating: text, as: UTF8.self).flatMap(dialect.mask)
    }
  }

  /// The largest number of texts: runners compare every line with every text.
  private static let mostMasks = 1000
}

/// The values of `--ci`.
package enum CIChoice: String, CaseIterable, Sendable {
  case auto, github, gitlab, buildkite, teamcity, azure, none

  /// The runner to talk to. `environment` returns the value of a variable.
  package func runner(
    isInsideStep: Bool, writesToFile: Bool, environment: (String) -> String?
  ) -> CIRunner? {
    switch self {
    case .auto:
      // The runner reads neither the output of a run inside a step nor a file.
      isInsideStep || writesToFile ? nil : CIRunner.detected(environment)
    case .none: nil
    case .github, .gitlab, .buildkite, .teamcity, .azure: CIRunner(rawValue: rawValue)
    }
  }
}

extension ByteSink {
  /// Makes everything that is written from now on harmless to the runner.
  package func makeHarmless(to runner: CIRunner) { guardRules = runner.dialect.rules }
}
