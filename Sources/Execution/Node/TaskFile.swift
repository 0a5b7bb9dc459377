// The task that a node gets for one start of a command. It knows nothing of Slurm, of steps or of
// the run's other commands.

import Caching
import Diagnostics
import Plans
import RunFiles
import Running
import Scheduling

/// A task: one start of one command on a node, with everything that is decided there.
struct TaskFile: Sendable {
  let command: Command
  /// The directory in which oprun was started; absolute.
  let workspace: String
  let runID: String
  let limits: TaskLimits
  /// The values of the run's secrets, which are masked in the log.
  let secrets: [String]
  /// Outputs that are the work of the attempt alone: a start that is not its first one removes them.
  var replaceable: [String] = []
  /// True if the attempt may have begun before, as another task.
  var isRepeated = false

  /// The first line of every file; another format has another number.
  static let header = Array("oprun task 3\n".utf8)
}

/// The limits of a command, and how it is asked to end.
struct TaskLimits: Hashable, Sendable {
  /// The time limit of this start; nil if it has none.
  var time: Nanoseconds?
  var stop = StopSequence()
}

extension TaskFile {
  var encoded: [UInt8] {
    var writer = ByteWriter()
    writer.append(Self.header)
    writer.add(runID)
    writer.add(workspace)
    writer.add(command)
    writer.addOptional(limits.time.map { Int($0) }) { $0.add($1) }
    writer.add(Int(limits.stop.signal))
    writer.add(Int(limits.stop.grace))
    writer.add(secrets)
    writer.add(replaceable)
    writer.add(isRepeated)
    return writer.bytes
  }

  /// Throws if the bytes cannot have been made by `encoded`.
  init(decoding bytes: [UInt8]) throws(ByteReadFailure) {
    guard bytes.starts(with: Self.header) else { throw ByteReadFailure() }
    var reader = ByteReader(bytes[Self.header.count...])
    runID = try reader.word()
    workspace = try reader.word()
    command = try reader.command()
    var limits = TaskLimits()
    limits.time = try reader.optional { reader throws(ByteReadFailure) in try reader.time() }
    limits.stop.signal = try reader.number(in: 1...64)
    limits.stop.grace = try reader.time()
    self.limits = limits
    secrets = try reader.texts()
    replaceable = try reader.words()
    isRepeated = try reader.flag()
    guard reader.isAtEnd, workspace.hasPrefix("/") else { throw ByteReadFailure() }
  }
}

// MARK: Commands

extension ByteWriter {
  fileprivate mutating func add(_ command: Command) {
    add(command.key)
    switch command.work {
    case .words(let words):
      add(UInt8(0))
      add(words)
    case .script(let text, let shell):
      add(UInt8(1))
      add(shell)
      add(text)
    case .builtin(let words):
      add(UInt8(2))
      add(words)
    }
    add(command.environment.variables)
    addOptional(command.environment.inherited) { $0.add($1.sorted()) }
    add(command.variables)
    addOptional(command.directory) { $0.add($1) }
    addOptional(command.input) { $0.add($1) }
    add(command.limits.logSize)
    add(Int(command.limits.nice))
    addOptional(command.confinement) { writer, confinement in
      writer.add(confinement.inputs)
      writer.add(confinement.readable)
      writer.add(confinement.outputsBefore) { $0.add($1) }
      writer.add(confinement.writable)
      writer.add(confinement.isEnforced)
    }
    add(command.usesTerminal)
    add(command.orphans.rawValue)
    add(command.logName)
    add(command.outputsName)
  }

  fileprivate mutating func add(_ variables: [EnvironmentVariable]) {
    add(variables) { writer, variable in
      writer.add(variable.name)
      writer.add(variable.value)
    }
  }

  fileprivate mutating func add(_ patterns: Confinement.Patterns) {
    add(patterns.directory)
    add(patterns.patterns)
  }
}

extension ByteReader {
  /// Reads a command. It shares no slots: the jobserver of a run is on the machine of its oprun.
  fileprivate mutating func command() throws(ByteReadFailure) -> Command {
    let key = try key()
    let work = try work()
    let shared = try variables()
    let inherited = try optional { reader throws(ByteReadFailure) in Set(try reader.words()) }
    let own = try variables()
    let directory = try optional { reader throws(ByteReadFailure) in try reader.word() }
    let input = try optional { reader throws(ByteReadFailure) in try reader.text() }
    let logLimit: Int = try number(in: 0...Int.max)
    let nice: Int32 = try number(in: -40...40)
    let confinement = try optional { reader throws(ByteReadFailure) in try reader.confinement() }
    let usesTerminal = try flag()
    guard let orphans = OrphanAction(rawValue: try byte()) else { throw ByteReadFailure() }
    let settings = StepSettings(
      workingDirectory: directory, standardInput: input, logLimit: logLimit, nice: nice,
      usesTerminal: usesTerminal, orphans: orphans)
    return Command(
      key, work, in: CommandEnvironment(shared, inherited: inherited), variables: own,
      settings: settings, confinement: confinement,
      files: (log: try fileName(), outputs: try fileName()))
  }

  private mutating func work() throws(ByteReadFailure) -> Command.Work {
    switch try byte() {
    case 0: return .words(try someWords())
    case 1:
      let shell = try someWords()
      return .script(try word(), shell: shell)
    case 2: return .builtin(try words())
    default: throw ByteReadFailure()
    }
  }

  private mutating func variables() throws(ByteReadFailure) -> [EnvironmentVariable] {
    try list { reader throws(ByteReadFailure) in
      let name = try reader.word()
      return EnvironmentVariable(name: name, value: try reader.word())
    }
  }

  private mutating func confinement() throws(ByteReadFailure) -> Confinement {
    let inputs = try patterns()
    let readable = try words()
    let before = try list { reader throws(ByteReadFailure) in try reader.patterns() }
    return Confinement(
      inputs: inputs, readable: readable, outputsBefore: before, writable: try patterns(),
      isEnforced: try flag())
  }

  private mutating func patterns() throws(ByteReadFailure) -> Confinement.Patterns {
    let directory = try word()
    return Confinement.Patterns(try words(), in: directory)
  }

  /// Reads a list that must have a word, since the first is a program or a shell.
  private mutating func someWords() throws(ByteReadFailure) -> [String] {
    let words = try words()
    if words.isEmpty { throw ByteReadFailure() }
    return words
  }

  /// Reads the name of a file in the directory of the run.
  private mutating func fileName() throws(ByteReadFailure) -> String {
    let name = try word()
    guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: "/")), name != ".", name != ".." else {
      throw ByteReadFailure()
    }
    return name
  }
}
