// A command that has, or waits for, a place in an allocation, and the words of the `srun` that starts it on
// another node.

import Diagnostics
import Glibc
import Plans
import RunFiles
import Running
import Scheduling

final class PlacedCommand {
  let command: Command
  let order: SlurmOrder
  let startedAt: Nanoseconds
  /// The index of its node; nil while the command waits for one.
  var node: Int?
  /// The number of the command's task; 0 if the command is a process of this node.
  var number = 0
  /// The name of its step in Slurm, by which the step is found after oprun has died.
  var jobName = ""
  /// The number of times that the command was lost, and the nodes where.
  private(set) var tries = 0
  private(set) var avoided: Set<Int> = []
  var stopSignal: Int32?
  /// When a process of this node has used up its time limit, or its grace period. Other nodes
  /// enforce the limits themselves.
  var limitDue: Nanoseconds?
  var hasTimedOut = false
  /// When its `srun` ended, or when its step was last seen after that.
  var srunEndedAt: Nanoseconds?
  /// True if Slurm no longer knows the step.
  var isGone = false
  var killedAt: Nanoseconds?
  /// True if the command was killed and is not waited for any longer.
  var isGivenUp = false
  private var killCount = 0
  var log: LogFile?
  var toldByteCount = 0

  var key: CommandKey { command.key }

  init(_ command: Command, _ order: SlurmOrder, at now: Nanoseconds) {
    self.command = command
    self.order = order
    startedAt = now
  }

  var step: String {
    command.variables.first { $0.name == OprunVariable.step.rawValue }?.value ?? command.logName
  }

  private func wholes(_ resource: SlurmResource) -> Int {
    Int(((order.request.resources[resource] ?? 0) + 999_999) / 1_000_000)
  }

  var share: NodeShare {
    NodeShare(
      processors: max(1, wholes(.cpus)), memory: order.request.memory, gpus: wholes(.gpus))
  }

  /// True if the command must be a step because Slurm itself divides GPUs.
  var needsStep: Bool { share.gpus > 0 }

  func returned(from node: Int) {
    avoided.insert(node)
    tries += 1
    self.node = nil
    number = 0
    jobName = ""
    limitDue = nil
    hasTimedOut = false
    srunEndedAt = nil
    isGone = false
    log = nil
    toldByteCount = 0
  }

  // MARK: srun

  /// Probe numbers from here on are those of commands that oprun itself needs, not of conditions.
  private static let firstNumber = 1 << 40

  static func isSrun(_ key: CommandKey) -> Bool {
    if case .probe(let number) = key.role { number >= firstNumber } else { false }
  }

  var srunKey: CommandKey {
    CommandKey(operation: key.operation, role: .probe(Self.firstNumber + number))
  }

  /// Variables of the job that `srun` would take for options of the step. A step without a memory
  /// option would then get all of the node's memory, and the next would wait for it.
  static let optionsOfJob: Set = [
    "SLURM_CPUS_PER_GPU", "SLURM_CPUS_PER_TASK", "SLURM_DISTRIBUTION", "SLURM_EXCLUSIVE",
    "SLURM_GPUS", "SLURM_GPUS_PER_NODE", "SLURM_GPUS_PER_SOCKET", "SLURM_GPUS_PER_TASK",
    "SLURM_GRES", "SLURM_HINT", "SLURM_MEM_PER_CPU", "SLURM_MEM_PER_GPU", "SLURM_MEM_PER_NODE",
    "SLURM_NNODES", "SLURM_NPROCS", "SLURM_NTASKS", "SLURM_NTASKS_PER_CORE", "SLURM_NTASKS_PER_GPU",
    "SLURM_NTASKS_PER_NODE", "SLURM_NTASKS_PER_SOCKET", "SLURM_THREADS_PER_CORE",
  ]

  /// The `srun` that runs the task on a node. `memory` is in MiB; 0 takes none away from others, and limits nothing.
  func srun(
    on node: String, memory: Int, _ task: [String], in environment: CommandEnvironment
  ) -> Command {
    let share = share
    var words = [
      "srun", "--quiet", "--exact", "--nodes=1", "--ntasks=1", "--nodelist=\(node)",
      "--cpus-per-task=\(share.processors)", "--mem=\(memory)\(memory > 0 ? "M" : "")",
      "--input=none", "--export=ALL", "--kill-on-bad-exit=0",
      "--job-name=\(jobName)",
    ]
    if share.gpus > 0 { words.append("--gpus=\(share.gpus)") }
    return ofOprun(srunKey, words + task + [String(number)], outputName, in: environment)
  }

  /// Sends a signal to all processes of a step of the job.
  func signalling(
    _ step: String, _ signal: String, in environment: CommandEnvironment
  ) -> Command {
    // The previous call may still be under way.
    if signal == "KILL" { killCount += 1 }
    let repetition = signal == "KILL" ? 2 + 2 * killCount : 1
    let key = CommandKey(
      operation: key.operation, role: .probe(Self.firstNumber + number), repetition: repetition)
    return ofOprun(
      key, ["scancel", "--quiet", "--signal=\(signal)", step],
      "@node/jobs/\(number).\(signal).\(repetition).out", in: environment)
  }

  /// Lists all steps, and the states of nodes: Slurm lists the steps of a node that is down as if
  /// they went on. `StepListing` reads the output.
  func listing(of nodes: [String], in environment: CommandEnvironment) -> Command {
    let key = CommandKey(
      operation: key.operation, role: .probe(Self.firstNumber + number), repetition: 3)
    // These variables would hide steps.
    let script =
      "unset SQUEUE_PARTITION SQUEUE_STATES SQUEUE_USERS; "
      + SlurmCommands.steps.map(shellWord).joined(separator: " ")
      + " && exec scontrol --oneliner show nodes " + shellWord(nodes.joined(separator: ","))
    return ofOprun(key, ["/bin/sh", "-c", script], listingName, in: environment)
  }

  private var listingName: String { "@node/jobs/\(number).steps.out" }

  /// The result of a listing that has ended like this; nil if Slurm does not answer.
  func listed(in directory: RunDirectory, _ end: CommandEnd) -> StepListing? {
    // No commands of Slurm are installed here.
    if end.status == .exited(127) { return StepListing() }
    guard end.status == .exited(0) else { return nil }
    let file = directory.open(listingName)
    if file < 0 { return StepListing() }
    let log = LogFile(owning: file)
    var bytes = [UInt8](repeating: 0, count: log.size)
    let count = bytes.withUnsafeMutableBytes { log.read(at: 0, into: $0) }
    return StepListing(String(decoding: bytes[..<count], as: UTF8.self))
  }

  /// The last line that the commands of Slurm printed.
  func lastWords(in folder: String) -> String? {
    let descriptor = open(
      "\(folder)/\(outputName)", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    return LastWords.line(of: LogFile(owning: descriptor))
  }

  private var outputName: String { "@node/jobs/\(number).out" }

  private func ofOprun(
    _ key: CommandKey, _ words: [String], _ output: String, in environment: CommandEnvironment
  ) -> Command {
    Command(
      key, .words(words), in: environment, settings: StepSettings(),
      files: (log: output, outputs: "\(output).outputs"))
  }
}

/// The steps that go on, and the nodes that are down.
struct StepListing {
  private var steps: [Substring] = []
  private var down: Set<Substring> = []

  init() {}

  init(_ text: String) {
    for line in text.split(separator: "\n") {
      guard line.hasPrefix("NodeName=") else {
        steps.append(line)
        continue
      }
      let words = line.split(separator: " ")
      if words.contains(where: { $0.hasPrefix("State=DOWN") }) {
        down.insert(words[0].dropFirst("NodeName=".count))
      }
    }
  }

  /// The tasks whose steps go on.
  func tasks(with mark: JobMark) -> Set<Int> { Set(steps.compactMap { mark.task(in: $0) }) }

  func isDown(_ node: String) -> Bool { down.contains(node[...]) }
}

/// The messages about an allocation.
enum AllocationMessage {
  static func tooLarge(_ count: Int, largest: Int) -> String {
    largest == 0
      ? "no node of the allocation is left"
      : "the step asks for \(count) processors, but no node of the allocation has more than \(largest)"
  }

  static func tooManyGPUs(_ count: Int, largest: Int) -> String {
    "the step asks for \(count) GPUs, but no node of the allocation has more than \(largest)"
  }

  static func noResult(on node: String, _ words: String?) -> String {
    "the command on node \(quoted(node)) has left no result" + (words.map { " (\($0))" } ?? "")
  }

  static func lost(_ node: String) -> String {
    "node \(quoted(node)) has lost a step, and gets no more steps"
  }

  /// `id` is the step's id in Slurm.
  static func notEnded(_ step: String, _ id: String) -> String {
    "step \(id) of \(quoted(step)) was killed, and may go on"
  }

  static func again(_ step: String, _ words: String) -> String {
    "step \(quoted(step)) is started again: \(words)"
  }
}
