// The memory of one process start: the arguments and the stack that the new process uses until its
// program is loaded. Slots are reused; a run needs a few.

import CLinux
import Glibc
import Plans

/// The facts that one command needs to start.
struct LaunchRequest {
  /// The paths to try, in order; more than one when PATH is searched.
  let programs: [[UInt8]]
  let arguments: [String]
  let environment: Environment
  /// The variables only for this command; `environment` has none with these names.
  let ownVariables: [EnvironmentVariable]
  /// The mark in the environment of the command.
  var cookie = ""
  let directory: String?
  var input: Int32
  /// True if the input was opened for this command, and is closed once it has been started.
  var ownsInput = false
  var output: Int32
  /// True if the output becomes the controlling terminal.
  var isTerminal = false
  /// The descriptor of a script, which becomes descriptor 3.
  var script: Int32?
  let nice: Int32
  /// The files and rules that were made for the command; nil if it needs none.
  var prepared: PreparedStart?
  /// The number in the mark of the command.
  var number = 0
  /// Two descriptors that stay open, with the numbers that they have here.
  var kept: (Int32, Int32)?
}

extension LaunchRequest {
  /// The first descriptor after the standard streams that the new process needs; 0 if it needs one
  /// that is closed here before it ends.
  fileprivate var firstNeeded: Int32 {
    ownsInput || isTerminal || script != nil || prepared != nil || kept != nil
      ? 0 : min(input, output)
  }

  /// The size of the arguments and variables as C strings, in bytes.
  fileprivate var textLength: Int {
    var length = (directory?.utf8.count ?? 0) + 1
    for path in programs { length += path.count + 1 }
    for text in arguments { length += text.utf8.count + 1 }
    for variable in ownVariables {
      length += variable.name.utf8.count + variable.value.utf8.count + 2
    }
    length += Cookie.variable.utf8.count + cookie.utf8.count + 2
    if let path = prepared?.temporaryPath { length += "TMPDIR=".utf8.count + path.utf8.count + 1 }
    return length
  }
}

/// The conditions that all commands of a run start with.
struct LaunchConditions {
  /// Bit n−1: signal n gets its default action.
  let defaultSignals: UInt64
  /// Bit n−1: signal n is blocked here and ends the run.
  let stoppingSignals: UInt64
  let limits: DescriptorLimits
  let guardian = GuardianPresence()
  var mark: DescentMark?
  /// The directory of the control group in which commands start.
  var controlGroup: Int32?
}

/// Owns a `clinux_launch`, its stack and its strings. The memory is released only when the kernel
/// reports that no new process uses it any more.
final class LaunchSlot {
  /// The last process started from this slot.
  private(set) var processID: Int32 = 0
  private let launch: UnsafeMutablePointer<clinux_launch>
  private let stack: UnsafeMutablePointer<CChar>
  private var text: UnsafeMutablePointer<CChar>
  private var textCapacity = 4096
  private var pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
  private var pointerCapacity = 256
  /// The owners of the variables and of the rules that the new process reads.
  private var environment: Environment?
  private var rules: PreparedStart.Rules?
  private var guardian: GuardianPresence?

  private static let stackSize = 32 * 1024

  init() {
    launch = .allocate(capacity: 1)
    launch.initialize(to: clinux_launch())
    launch.pointee.parent = getpid()
    stack = .allocate(capacity: LaunchSlot.stackSize)
    text = .allocate(capacity: textCapacity)
    pointers = .allocate(capacity: pointerCapacity)
  }

  deinit {
    // A process may still be loading its program from this memory; then the memory is not released.
    guard launch.pointee.busy == 0 else {
      if let rules {
        _ = Unmanaged.passRetained(rules.outside)
        _ = Unmanaged.passRetained(rules.own)
      }
      if let environment { _ = Unmanaged.passRetained(environment) }
      if let guardian { _ = Unmanaged.passRetained(guardian) }
      return
    }
    launch.deallocate()
    stack.deallocate()
    text.deallocate()
    pointers.deallocate()
  }

  /// False while the new process uses the memory, or while its failure has not been examined.
  var isFree: Bool { launch.pointee.busy == 0 && launch.pointee.error == 0 }

  /// Releases what only a new process needs, once it has its program; false before.
  func forgetRules() -> Bool {
    guard launch.pointee.busy == 0 else { return false }
    rules = nil
    return true
  }

  /// True if the new process is still loading its program: a signal could miss it.
  func isLoading(_ process: Int32) -> Bool {
    process == processID && launch.pointee.busy != 0
  }

  /// Starts the process. Returns its id, or -errno.
  func start(_ request: LaunchRequest, _ conditions: LaunchConditions) -> Int32 {
    fill(request)
    let limits = conditions.limits
    guardian = conditions.guardian
    launch.pointee.guarded = UnsafePointer(conditions.guardian.flag)
    launch.pointee.default_signals = conditions.defaultSignals
    launch.pointee.stopping_signals = conditions.stoppingSignals
    launch.pointee.first_needed = request.firstNeeded
    launch.pointee.cgroup = conditions.controlGroup ?? -1
    launch.pointee.soft_descriptor_limit = limits.isRaised ? limits.softAtStart : 0
    launch.pointee.hard_descriptor_limit = limits.isRaised ? limits.hard : 0
    launch.pointee.soft_memory_limit = conditions.mark?.value(of: request.number) ?? 0
    launch.pointee.hard_memory_limit = conditions.mark?.hardLimit ?? 0
    processID = clinux_launch(launch, stack, LaunchSlot.stackSize)
    return processID
  }

  /// Why the ended process never became the command; nil if it did. Frees the slot.
  func takeFailure(of process: Int32) -> LaunchFailure? {
    guard process == processID, launch.pointee.error != 0 else { return nil }
    defer { launch.pointee.error = 0 }
    let stage = launch.pointee.stage
    return LaunchFailure(
      isDirectory: stage == Int32(clinux_stage_directory.rawValue),
      isConfinement: stage == Int32(clinux_stage_confinement.rawValue),
      errno: launch.pointee.error,
      search: ProgramSearch(directories: environment?.searchPath ?? []))
  }

  private func fill(_ request: LaunchRequest) {
    environment = request.environment
    let shared = request.environment.variables
    reserve(
      text: request.textLength,
      pointers: request.programs.count + request.arguments.count + request.ownVariables.count
        + shared.count + 6)

    var cursor = text
    func write(
      _ bytes: UnsafeBufferPointer<UInt8>, end: CChar = 0
    ) -> UnsafeMutablePointer<CChar> {
      let start = cursor
      if let source = bytes.baseAddress { memcpy(start, source, bytes.count) }
      cursor += bytes.count
      cursor.pointee = end
      cursor += 1
      return start
    }
    func write(_ string: String, end: CChar = 0) -> UnsafeMutablePointer<CChar> {
      var string = string
      return string.withUTF8 { write($0, end: end) }
    }
    var next = pointers
    func append(_ pointer: UnsafeMutablePointer<CChar>?) {
      next.pointee = pointer
      next += 1
    }
    let programs = next
    for program in request.programs { append(program.withUnsafeBufferPointer { write($0) }) }
    append(nil)
    append(nil)
    let arguments = next
    for argument in request.arguments { append(write(argument)) }
    append(nil)
    let environment = next
    func append(_ name: String, _ value: String) {
      append(write(name, end: CChar(UInt8(ascii: "="))))
      _ = write(value)
    }
    let temporaryPath = request.prepared?.temporaryPath
    for variable in shared {
      if temporaryPath != nil, strncmp(variable, "TMPDIR=", 7) == 0 { continue }
      append(variable)
    }
    for variable in request.ownVariables { append(variable.name, variable.value) }
    if let temporaryPath { append("TMPDIR", temporaryPath) }
    append(Cookie.variable, request.cookie)
    append(nil)

    launch.pointee.programs = UnsafeRawPointer(programs)
      .assumingMemoryBound(to: UnsafePointer<CChar>?.self)
    launch.pointee.arguments = arguments
    launch.pointee.environment = UnsafePointer(environment)
    launch.pointee.directory = request.directory.map { UnsafePointer(write($0)) }
    take(descriptorsOf: request)
    launch.pointee.nice = request.nice
    confine(request.prepared?.takeRules())
  }

  private func take(descriptorsOf request: LaunchRequest) {
    launch.pointee.input = request.input
    launch.pointee.output = request.output
    launch.pointee.script = request.script ?? -1
    launch.pointee.is_terminal = request.isTerminal ? 1 : 0
    launch.pointee.kept = request.kept ?? (-1, -1)
  }

  private func confine(_ rules: PreparedStart.Rules?) {
    self.rules = rules
    launch.pointee.is_confined = rules == nil ? 0 : 1
    launch.pointee.outside = rules.map { UnsafePointer($0.outside.rules) }
    launch.pointee.outside_count = rules?.outside.count ?? 0
    launch.pointee.rules = rules.map { UnsafePointer($0.own.rules) }
    launch.pointee.rule_count = rules?.own.count ?? 0
  }

  private func reserve(text textNeeded: Int, pointers pointersNeeded: Int) {
    if textNeeded > textCapacity {
      text.deallocate()
      textCapacity = textNeeded * 2
      text = .allocate(capacity: textCapacity)
    }
    if pointersNeeded > pointerCapacity {
      pointers.deallocate()
      pointerCapacity = pointersNeeded * 2
      pointers = .allocate(capacity: pointerCapacity)
    }
  }
}

/// A process that exited before its program was loaded.
struct LaunchFailure: Hashable {
  /// True if the working directory could not be entered.
  let isDirectory: Bool
  /// True if the kernel refused the rules of the confinement.
  var isConfinement = false
  let errno: Int32
  /// The directories in which a program without a slash was looked for.
  var search = ProgramSearch()
}
