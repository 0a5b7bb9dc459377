// One group of output for each command. One running command holds the stage: it is shown as its log
// grows, while the output of the others waits in their logs. Where messages are seen beside output,
// and so a line can say whose lines follow, the output of a command that failed is shown at once,
// and one that has been silent for a second leaves the stage. Elsewhere groups stay whole.

import Plans
import RunFiles
import Scheduling

struct GroupedOutput: StepOutput {
  /// A running command with output that is not shown yet.
  private struct Talker {
    let stream: Stream
    let start: Nanoseconds
    var byteCount: Int
    var lastOutput: Nanoseconds
  }

  /// A command that ended while another group was open, and the file of its output.
  private struct Waiting {
    let stream: Stream
    let log: FileIdentity?
    /// The state of its group; nil if none of it was shown before.
    let state: ShownGroup?
  }

  private let stage: Stage
  private var screen: Screen { stage.screen }
  private var operations: RunOperations { stage.operations }
  private var live: LiveGroup?
  /// When the command on the stage printed something.
  private var lastOutput: Nanoseconds = 0
  private var talkers: [Talker] = []
  private var waiting: [Waiting] = []
  /// The index of the first of these that was not shown yet.
  private var waitingStart = 0
  /// Groups of ended commands that are shown to their ends before anything else: a failed command,
  /// and the one that held the stage.
  private var ending: [(group: LiveGroup, isFailure: Bool)] = []
  /// The number of bytes that may still be shown in this turn.
  private var room = GroupedOutput.mostPerTurn
  private var lastTurn: Nanoseconds = 0
  /// Running commands that left the stage.
  private var left: [Stream: ShownGroup] = [:]
  /// True if the stage belongs to a dialogue.
  private var isSuspended = false

  /// The number of bytes shown in one turn: some 10 ms of work.
  static let mostPerTurn = 4 << 20

  /// The time without output after which a command leaves the stage to others.
  private static let longestSilence: Nanoseconds = 1_000_000_000
  /// The output of services, in lines with their names, while no group is open: a service would
  /// hold the stage for ever.
  private var services: PrefixedOutput
  /// The services whose output is not shown completely, with the readable sizes of their logs.
  private var serviceNews: [(stream: Stream, byteCount: Int)] = []

  init(screen: Screen, operations: RunOperations) {
    stage = Stage(screen: screen, operations: operations)
    services = PrefixedOutput(screen: screen, operations: operations)
  }

  private func isService(_ stream: Stream) -> Bool {
    switch stream.role {
    case .attempt: operations.isService(stream.operation)
    case .hook, .probe: false
    }
  }

  /// True if nobody holds the stage.
  private var isFree: Bool { live == nil && ending.isEmpty && !isSuspended }

  mutating func grew(
    _ stream: Stream, to byteCount: Int, start: Nanoseconds, at now: Nanoseconds
  ) {
    if screen.output.hasFailed { return }
    if isService(stream) {
      if let index = serviceNews.firstIndex(where: { $0.stream == stream }) {
        serviceNews[index].byteCount = byteCount
      } else {
        serviceNews.append((stream, byteCount))
      }
      if isFree { _ = showServices() }
      return
    }
    if let live {
      if live.stream == stream {
        lastOutput = now
        var room = ending.isEmpty && !isSuspended ? room : 0
        live.show(upTo: byteCount, within: &room)
        if ending.isEmpty, !isSuspended { self.room = room }
      } else {
        note(stream, byteCount, start: start, at: now)
      }
    } else if !isFree {
      note(stream, byteCount, start: start, at: now)
    } else {
      open(stream, upTo: byteCount, at: now)
    }
  }

  private mutating func note(
    _ stream: Stream, _ byteCount: Int, start: Nanoseconds, at now: Nanoseconds
  ) {
    if let index = talkers.firstIndex(where: { $0.stream == stream }) {
      talkers[index].byteCount = byteCount
      talkers[index].lastOutput = now
    } else {
      talkers.append(
        Talker(stream: stream, start: start, byteCount: byteCount, lastOutput: now))
    }
  }

  mutating func suspend(for stream: Stream) -> Int {
    isSuspended = true
    talkers.removeAll { $0.stream == stream }
    var state = left.removeValue(forKey: stream)
    if let live, live.stream == stream {
      state = live.state
      self.live = nil
    }
    live?.interrupt()
    return state?.shown ?? 0
  }

  mutating func resume() {
    isSuspended = false
    goOn()
  }

  private mutating func open(_ stream: Stream, upTo byteCount: Int, at now: Nanoseconds) {
    guard let log = operations.log(of: stream) else { return }
    let state = left.isEmpty ? nil : left.removeValue(forKey: stream)
    live = LiveGroup(stream, log, on: stage, from: state)
    lastOutput = now
    live?.show(upTo: byteCount, within: &room)
  }

  mutating func ended(_ stream: Stream, isFailure: Bool) {
    if screen.output.hasFailed { return }
    talkers.removeAll { $0.stream == stream }
    let state = left.isEmpty ? nil : left.removeValue(forKey: stream)
    serviceNews.removeAll { $0.stream == stream }
    let isService = isService(stream)
    let log = operations.log(of: stream)
    if let live, live.stream == stream {
      ending.append((live, isFailure))
      self.live = nil
    } else if isFree {
      if !isService {
        end(stream, log, from: state, as: isFailure ? .failed : .succeeded)
      } else if !end(service: stream, log) {
        waiting.append(Waiting(stream: stream, log: log?.identity, state: nil))
      }
    } else if isFailure, screen.isShared, !isSuspended, !isService, ending.isEmpty {
      live?.interrupt()
      end(stream, log, from: state, as: .failed)
    } else {
      waiting.append(Waiting(stream: stream, log: log?.identity, state: state))
    }
    goOn()
  }

  /// Ends a command, whose remaining output is shown next.
  private mutating func end(
    _ stream: Stream, _ log: LogFile?, from state: ShownGroup?, as command: CIGroup.State
  ) {
    guard let log else {
      return screen.writeUnreadable(operations.logPath(of: stream), .neverWritten)
    }
    ending.append((LiveGroup(stream, log, on: stage, from: state, as: command), false))
  }

  /// Shows as much as there is room for, and gives the stage to the next command when it is free.
  private mutating func goOn() {
    if screen.output.hasFailed { return drop() }
    if isSuspended { return }
    while true {
      while let next = ending.first {
        guard next.group.finish(isFailure: next.isFailure, within: &room) else { return }
        ending.removeFirst()
      }
      if let live { return live.show(within: &room) }
      while waitingStart < waiting.count, ending.isEmpty {
        guard end(waiting[waitingStart]) else { return }
        waitingStart += 1
      }
      if waitingStart == waiting.count {
        waiting.removeAll(keepingCapacity: true)
        waitingStart = 0
      }
      if ending.isEmpty {
        guard showServices() else { return }
        openNext()
        if live == nil { return }
      }
    }
  }

  /// Forgets all output: nobody sees any more of it.
  private mutating func drop() {
    live = nil
    ending = []
    waiting = []
    waitingStart = 0
    talkers = []
    left = [:]
    serviceNews = []
    screen.ci?.closeGroup(on: screen)
  }

  /// Shows the rest of a waiting command; false if there is no room for all of it.
  private mutating func end(_ item: Waiting) -> Bool {
    do throws(LogReadFailure) {
      // If the command has ended in this turn, its log is still open.
      let log: LogFile
      if let open = operations.log(of: item.stream) {
        log = open
      } else {
        log = try operations.log(of: item.stream, writtenTo: item.log)
      }
      if isService(item.stream) { return end(service: item.stream, log) }
      end(item.stream, log, from: item.state, as: .succeeded)
    } catch {
      screen.writeUnreadable(operations.logPath(of: item.stream), error)
    }
    return true
  }

  /// Shows the rest of a service; false if there is no room for all of it.
  private mutating func end(service stream: Stream, _ log: LogFile?) -> Bool {
    guard let log else {
      screen.writeUnreadable(operations.logPath(of: stream), .neverWritten)
      return true
    }
    return services.close(stream, log, within: &room)
  }

  /// Shows the output of the services; false if there is no room for all of it.
  private mutating func showServices() -> Bool {
    while let next = serviceNews.first {
      guard services.show(next.stream, upTo: next.byteCount, within: &room) else { return false }
      serviceNews.removeFirst()
    }
    return true
  }

  private mutating func openNext() {
    guard let index = talkers.indices.min(by: { talkers[$0].start < talkers[$1].start }) else {
      return
    }
    let next = talkers.remove(at: index)
    open(next.stream, upTo: next.byteCount, at: next.lastOutput)
  }

  mutating func advance(to now: Nanoseconds) {
    lastTurn = now
    room = Self.mostPerTurn
    goOn()
    while isCaughtUp, let due = silenceEnd, due <= now, let live {
      live.interrupt()
      left[live.stream] = live.state
      self.live = nil
      goOn()
    }
  }

  mutating func finish() {
    room = .max
    goOn()
  }

  /// False if output may be left for which there was no room.
  private var isCaughtUp: Bool { ending.isEmpty && live?.isCaughtUp != false && room > 0 }

  var deadline: Nanoseconds? {
    if isCaughtUp { return silenceEnd.map { max($0, lastTurn + 1) } }
    return isSuspended ? nil : lastTurn + 1
  }

  /// When the command on the stage leaves the stage.
  private var silenceEnd: Nanoseconds? {
    guard live != nil, screen.isShared else { return nil }
    let silence = lastOutput + Self.longestSilence
    let isWanted = !waiting.isEmpty || !talkers.isEmpty
    return screen.ci?.deadline(silence: silence) ?? (isWanted ? silence : nil)
  }
}
