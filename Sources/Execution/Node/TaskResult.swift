// The result of a task, as its node has written it. Only a result makes a command that ran on a
// node succeed or fail.

import Caching
import Plans
import Running
import Scheduling

/// The result of one start of a task.
struct TaskResult: Hashable, Sendable {
  /// The events that observers should know besides the end.
  enum Event: Hashable, Sendable {
    case notice(String)
    case orphans([OrphanProcess], OrphanAction)
    case outOfReach([OrphanProcess])
  }

  /// The command of the result.
  let key: CommandKey
  var end: CommandEnd
  let place: TaskOrigin
  /// The bytes that the command wrote to `OPRUN_OUTPUT`; nil if there are none, or if it did not exit with 0.
  var outputs: [UInt8]?
  /// The size of the log in bytes, so that a reader knows when it sees all of it.
  var logSize = 0
  var events: [Event] = []
  /// Why the log could not be kept; nil if it was.
  var stateFailure: String?

  static let header = Array("oprun result 3\n".utf8)
}

/// The place and the time of a start of a task.
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

  /// Throws if the bytes cannot have been made by `encoded`.
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
    add(end.status.word.description)
    addOptional(end.status.code) { $0.add(Int($1)) }
    addOptional(end.status.detail) { $0.add($1) }
    add(end.timedOut)
    add(end.lackedConfinement)
    add(Int(end.duration))
    add(Int(end.processorTime))
    add(Int(end.peakMemory ?? 0))
    add(end.outputByteCount)
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
    let lackedConfinement = try flag()
    let duration = try time()
    let processorTime = try time()
    let peakMemory = try number(in: 0...Int64.max)
    return CommandEnd(
      status, timedOut: timedOut, lackedConfinement: lackedConfinement, duration: duration,
      processorTime: processorTime, peakMemory: peakMemory > 0 ? peakMemory : nil,
      outputByteCount: try number(in: 0...Int.max))
  }

  private mutating func status() throws(ByteReadFailure) -> CommandEnd.Status {
    let word = try word()
    let code = try optional { reader throws(ByteReadFailure) in
      try reader.number(in: Int32(0)...255)
    }
    let detail = try optional { reader throws(ByteReadFailure) in try reader.word() }
    guard let status = CommandEnd.Status(word: word, code: code, detail: detail) else {
      throw ByteReadFailure()
    }
    return status
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
