// How a task ended, as its node has written it down. Only this makes a command that ran on a node
// succeed or fail.

import Caching
import Plans
import Running
import Scheduling

/// The result of one start of a task.
struct TaskResult: Hashable, Sendable {
  /// What observers should know of it besides its end.
  enum Event: Hashable, Sendable {
    case notice(String)
    case orphans([OrphanProcess], OrphanAction)
    case outOfReach([OrphanProcess])
  }

  /// Which command it was.
  let key: CommandKey
  var end: CommandEnd
  let place: TaskOrigin
  /// What the command wrote to `OPRUN_OUTPUT`; nil if that is nothing, or if it did not exit with 0.
  var outputs: [UInt8]?
  /// The size of the log in bytes, so that a reader knows when it sees all of it.
  var logSize = 0
  var events: [Event] = []
  /// Why the log could not be kept; nil if it was.
  var stateFailure: String?

  static let header = Array("oprun result 1\n".utf8)
}

/// Where and when a start of a task ran.
struct TaskOrigin: Hashable, Sendable {
  /// The name that Slurm gives the node.
  let host: String
  /// The job that the task belongs to, as in its claim.
  let job: String
  /// The process of oprun there.
  let processID: Int32
  /// The time in nanoseconds since 1970, by the clock of the node.
  let began: Int64
}

extension TaskResult {
  var encoded: [UInt8] {
    var writer = ByteWriter()
    writer.append(Self.header)
    writer.add(key)
    writer.add(end)
    writer.add(place.host)
    writer.add(place.job)
    writer.add(Int(place.processID))
    writer.add(Int(place.began))
    writer.addOptional(outputs) { $0.add(data: $1) }
    writer.add(logSize)
    writer.add(events) { $0.add($1) }
    writer.addOptional(stateFailure) { $0.add($1) }
    return writer.bytes
  }

  /// Throws if the bytes are anything that `encoded` could not have made.
  init(decoding bytes: [UInt8]) throws(ByteReadFailure) {
    guard bytes.starts(with: Self.header) else { throw ByteReadFailure() }
    var reader = ByteReader(bytes[Self.header.count...])
    key = try reader.key()
    end = try reader.end()
    let host = try reader.word()
    let job = try reader.word()
    let process = try reader.number(in: 0...Int32.max)
    place = TaskOrigin(
      host: host, job: job, processID: process, began: try reader.number(in: 0...Int64.max))
    outputs = try reader.optional { reader throws(ByteReadFailure) in try reader.data() }
    logSize = try reader.number(in: 0...Int.max)
    events = try reader.list { reader throws(ByteReadFailure) in try reader.event() }
    stateFailure = try reader.optional { reader throws(ByteReadFailure) in try reader.word() }
    guard reader.isAtEnd else { throw ByteReadFailure() }
  }
}

extension ByteWriter {
  fileprivate mutating func add(_ end: CommandEnd) {
    switch end.status {
    case .exited(let status): add(0, Int(status))
    case .signalled(let signal): add(1, Int(signal))
    case .notStarted(let reason, let code):
      add(2, Int(code))
      add(reason)
    case .outputsRefused(let reason):
      add(3, 0)
      add(reason)
    case .abandoned: add(4, 0)
    case .lost(let reason):
      add(5, 0)
      add(reason)
    }
    add(end.timedOut)
    add(Int(end.duration))
    add(Int(end.processorTime))
    add(Int(end.peakMemory ?? 0))
    add(end.outputByteCount)
  }

  private mutating func add(_ kind: UInt8, _ number: Int) {
    add(kind)
    add(number)
  }

  fileprivate mutating func add(_ event: TaskResult.Event) {
    switch event {
    case .notice(let text):
      add(UInt8(0))
      add(text)
    case .orphans(let processes, let action):
      add(UInt8(1))
      add(processes)
      add(action.rawValue)
    case .outOfReach(let processes):
      add(UInt8(2))
      add(processes)
    }
  }

  private mutating func add(_ processes: [OrphanProcess]) {
    add(processes) { writer, process in
      writer.add(Int(process.processID))
      writer.add(process.name)
      writer.addOptional(process.owner) { $0.add($1) }
    }
  }
}

extension ByteReader {
  fileprivate mutating func end() throws(ByteReadFailure) -> CommandEnd {
    let status = try status()
    let timedOut = try flag()
    let duration = try time()
    let processorTime = try time()
    let peakMemory = try number(in: 0...Int64.max)
    return CommandEnd(
      status, timedOut: timedOut, duration: duration, processorTime: processorTime,
      peakMemory: peakMemory > 0 ? peakMemory : nil, outputByteCount: try number(in: 0...Int.max))
  }

  private mutating func status() throws(ByteReadFailure) -> CommandEnd.Status {
    let kind = try byte()
    let number = try number(in: Int32(0)...255)
    switch kind {
    case 0: return .exited(number)
    case 1: return .signalled(number)
    case 2: return .notStarted(try word(), exitCode: number)
    case 3: return .outputsRefused(try word())
    case 4: return .abandoned
    case 5: return .lost(try word())
    default: throw ByteReadFailure()
    }
  }

  fileprivate mutating func event() throws(ByteReadFailure) -> TaskResult.Event {
    switch try byte() {
    case 0: return .notice(try word())
    case 1:
      let processes = try processes()
      guard let action = OrphanAction(rawValue: try byte()) else { throw ByteReadFailure() }
      return .orphans(processes, action)
    case 2: return .outOfReach(try processes())
    default: throw ByteReadFailure()
    }
  }

  private mutating func processes() throws(ByteReadFailure) -> [OrphanProcess] {
    try list { reader throws(ByteReadFailure) in
      let number = try reader.number(in: Int32(0)...Int32.max)
      let name = try reader.word()
      let owner = try reader.optional { reader throws(ByteReadFailure) in try reader.word() }
      return OrphanProcess(processID: number, name: name, owner: owner)
    }
  }
}
