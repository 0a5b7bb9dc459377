// What an executor receives: everything about one start of a command, as a plain value. It contains
// no descriptor, no pointer and nothing about the machine that it will run on.

package import Plans
package import Scheduling

/// One command of a run, ready to be started, here or on another machine.
package struct Command: Sendable {
  /// What the command runs.
  package enum Work: Hashable, Sendable {
    /// A program and its arguments; never empty.
    case words([String])
    /// A script, with the words of the shell that runs it.
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
  /// True if the command gets a terminal of its own in place of a pipe, and as its input if it has none.
  package let usesTerminal: Bool
  package let orphans: OrphanAction
  /// True if the command may share the slots of the run through a jobserver of the executor, if there is one.
  package let sharesJobs: Bool
  /// The job that Slurm is asked for; nil if the command does not run there.
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

/// The job that Slurm is asked to run for one command, and what the job itself takes care of.
package struct SlurmOrder: Hashable, Sendable {
  package let request: SlurmRequest
  package let timeLimit: Nanoseconds?
  package let stop: StopSequence
  package let priority: Int16
  /// The limit of a matrix, which Slurm keeps for oprun.
  package let width: SlurmWidth?
  /// The key of a cached step, if it is known: another run takes the job over only if the key is the same there.
  package var basis: String?
  /// The name of the lock of the step, if it is cached: only one job at a time makes its result.
  package var lock: String?
  /// Outputs of the step that are the work of this attempt alone: one that is repeated removes them first.
  package var replaceable: [String] = []
  /// Earlier runs in which the steps before this one had other results: their jobs are not taken over.
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

/// Variables that many commands of a run share. An executor may cache what it makes of them under
/// the object's identity, as long as it keeps the object.
package final class CommandEnvironment: Sendable {
  /// The variables. They win over those of the machine that runs the command; of equal names the
  /// last one wins.
  package let variables: [EnvironmentVariable]
  /// The variables that the command inherits from that machine; nil means all.
  package let inherited: Set<String>?

  package init(_ variables: [EnvironmentVariable], inherited: Set<String>? = nil) {
    self.variables = variables
    self.inherited = inherited
  }
}

/// The files that a command can reach in the directory that oprun was started in. Files outside of
/// it are not restricted. docs/confined-steps.md
package struct Confinement: Hashable, Sendable {
  /// Patterns of files that belong together, as in `cache`: one that begins with `!` excludes files
  /// that the others name. They are absolute, or relative to `directory`.
  package struct Patterns: Hashable, Sendable {
    package let directory: String
    package let patterns: [String]

    package init(_ patterns: [String], in directory: String) {
      self.directory = directory
      self.patterns = patterns
    }
  }

  /// Patterns of files that the command can read and that nobody has looked for yet, also behind
  /// links that the patterns lead through.
  package let inputs: Patterns
  /// Paths of files, and of directories with everything in them, that the command can read: its
  /// known inputs, and what the steps before it have made.
  package let readable: [String]
  /// Patterns of the files that earlier steps may have made, where it is not known what they made.
  package let outputsBefore: [Patterns]
  /// Patterns of the files that the command can read, write and create.
  package let writable: Patterns
  /// False if the command can reach everything, so that only the directories of what it writes are made.
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

  /// True if there are patterns whose files are not known yet.
  package var hasOpenPatterns: Bool { !inputs.patterns.isEmpty || !outputsBefore.isEmpty }

  /// The same for a command that can reach everything.
  package var unenforced: Confinement {
    let nothing = Patterns([], in: writable.directory)
    return Confinement(inputs: nothing, writable: writable, isEnforced: false)
  }
}

/// The limits of a command.
package struct CommandLimits: Hashable, Sendable {
  /// The number of bytes of the start of the output that the log keeps.
  package let logSize: Int
  /// The niceness that is added to oprun's own.
  package let nice: Int32

  package init(logSize: Int, nice: Int32) {
    self.logSize = logSize
    self.nice = nice
  }
}
