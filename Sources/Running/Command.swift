// What an executor receives: everything about one start of a command, as a plain value. It contains
// no descriptor, no pointer and nothing about the machine that it will run on.

package import Plans
package import Scheduling

/// One command of a run, ready to be started, here or on another machine.
package struct Command: Sendable {
  /// What runs.
  package enum Work: Hashable, Sendable {
    /// A program and its arguments; never empty.
    case words([String])
    /// A script, for the shell with these words.
    case script(String, shell: [String])
    /// Arguments of the program of the built-in steps; the executor knows where that is.
    case builtin([String])
  }

  /// Identifies this start, and no other of the run.
  package let key: CommandKey
  package var work: Work
  /// The variables that are shared with all commands that have the same ones.
  package var environment: CommandEnvironment
  /// Variables only for this command; they win over `environment`.
  package private(set) var variables: [EnvironmentVariable]
  /// The directory as the user wrote it: absolute, or relative to where oprun was started; nil
  /// means the latter.
  package let directory: String?
  /// What the command reads from its standard input; nil means nothing.
  package let input: String?
  package let limits: CommandLimits
  /// What a cached step declares about the files in the workspace; nil for another command.
  package let confinement: Confinement?
  /// It gets a terminal of its own in place of a pipe, and as its input if it has none.
  package let usesTerminal: Bool
  package let orphans: OrphanAction
  /// The executor lets it share the slots of the run through a jobserver, as far as it has one.
  package let sharesJobs: Bool
  /// What its job asks of Slurm; nil if it does not run there.
  package var slurm: SlurmOrder?
  /// The names, in the directory of the run, of the file for its output and of the one that
  /// `OPRUN_OUTPUT` names. Neither exists before something is written to it.
  package let logName: String
  package private(set) var outputsName: String

  package init(
    _ key: CommandKey, _ work: Work, in environment: CommandEnvironment,
    variables: [EnvironmentVariable] = [], settings: StepSettings,
    confinement: Confinement? = nil, sharesJobs: Bool = false,
    files: (log: String, outputs: String)
  ) {
    self.key = key
    self.work = work
    self.environment = environment
    self.variables = variables
    directory = settings.workingDirectory
    input = settings.standardInput
    limits = CommandLimits(logSize: settings.logLimit, nice: settings.nice)
    self.confinement = confinement
    usesTerminal = settings.usesTerminal && key.role.isAttempt
    orphans = settings.orphans
    self.sharesJobs = sharesJobs
    logName = files.log
    outputsName = files.outputs
  }

  /// The same with another file for its outputs, which is in the directory of the run, `folder`.
  package func withOutputs(named name: String, in folder: String) -> Command {
    let place = EnvironmentVariable(.output, "\(folder)/\(name)")
    var command = self
    command.variables = variables.map { $0.name == place.name ? place : $0 }
    command.outputsName = name
    return command
  }
}

/// What is asked of Slurm for one command, and what the job itself takes care of.
package struct SlurmOrder: Hashable, Sendable {
  package let request: SlurmRequest
  package let timeLimit: Nanoseconds?
  package let stop: StopSequence
  package let priority: Int16
  /// A limit that Slurm keeps for oprun: that of a matrix.
  package let width: SlurmWidth?
  /// What it runs on, if that is known: another run takes its job over only if it is the same there.
  package var basis: String?
  /// The name of the lock of the step, if it is cached: only one job at a time makes its result.
  package var lock: String?
  /// Outputs of the step that are the work of this attempt alone, whatever is in their place.
  package var replaceable: [String] = []
  /// Earlier runs whose jobs of the step ran on something else.
  package var outdatedRuns: Set<String> = []

  package init(
    _ request: SlurmRequest, _ settings: StepSettings, priority: Int16, width: SlurmWidth? = nil
  ) {
    self.request = request
    self.width = width
    timeLimit = settings.timeout
    stop = settings.stop
    self.priority = priority
  }
}

/// Variables that many commands of a run have in common. Whoever runs commands may keep what it
/// makes of them by the object's identity, as long as it keeps the object.
package final class CommandEnvironment: Sendable {
  /// The variables. They win over those of the machine that runs the command; of equal names the
  /// last one wins.
  package let variables: [EnvironmentVariable]
  /// The variables of that machine that the command gets; nil means all.
  package let inherited: Set<String>?

  package init(_ variables: [EnvironmentVariable], inherited: Set<String>? = nil) {
    self.variables = variables
    self.inherited = inherited
  }
}

/// What a command can reach in the directory that oprun was started in. Outside of it nothing is
/// different. docs/confined-steps.md
package struct Confinement: Hashable, Sendable {
  /// Patterns of files that belong together, as in `cache`: one that begins with `!` takes out files
  /// that the others name. They are absolute, or relative to `directory`.
  package struct Patterns: Hashable, Sendable {
    package let directory: String
    package let patterns: [String]

    package init(_ patterns: [String], in directory: String) {
      self.directory = directory
      self.patterns = patterns
    }
  }

  /// Patterns of the files that it can read and that nobody has looked for yet, also behind links that the patterns
  /// lead through.
  package let inputs: Patterns
  /// What it can read, as far as that is known: paths of files, and of directories with everything in them. These are its
  /// inputs, and what the steps before it have made.
  package let readable: [String]
  /// Patterns of the files that earlier steps may have made, where it is not known what they made.
  package let outputsBefore: [Patterns]
  /// What it can read, write and make.
  package let writable: Patterns
  /// False if it can reach everything all the same, so that only the directories of what it writes are made.
  package let isEnforced: Bool

  package init(
    inputs: Patterns, readable: [String] = [], outputsBefore: [Patterns] = [],
    writable: Patterns, isEnforced: Bool = true
  ) {
    self.inputs = inputs
    self.readable = readable
    self.outputsBefore = outputsBefore
    self.writable = writable
    self.isEnforced = isEnforced
  }

  /// Whether there are patterns of which it is not known what the command can read by them.
  package var hasOpenPatterns: Bool { !inputs.patterns.isEmpty || !outputsBefore.isEmpty }

  /// The same for a command that can reach everything.
  package var unenforced: Confinement {
    let nothing = Patterns([], in: writable.directory)
    return Confinement(inputs: nothing, writable: writable, isEnforced: false)
  }
}

/// The limits of a command.
package struct CommandLimits: Hashable, Sendable {
  /// The number of bytes at its start that the log keeps.
  package let logSize: Int
  /// The niceness that is added to oprun's own.
  package let nice: Int32

  package init(logSize: Int, nice: Int32) {
    self.logSize = logSize
    self.nice = nice
  }
}
