// One group of output for each command. One running command holds the stage: it is shown as its log
// grows, while what the others print waits in their logs. Where messages are seen beside output, and so
// a line can say whose lines follow, the output of a command that failed is shown at once, and one that
// has been silent for a second leaves the stage. Elsewhere groups stay whole.

import Plans
import RunFiles
import Scheduling

struct GroupedOutput: StepOutput {
  /// Running, with output that is not shown yet.
  private struct Talker {
    let stream: Stream
    let start: Nanoseconds
    var byteCount: Int
    var lastOutput: Nanoseconds
  }

  /// Ended while another group was open: what was written to which file.
  private struct Waiting {
    let stream: Stream
    let log: FileIdentity?
    /// If some of it was shown before.
    let state: GroupState?
  }

  private let stage: Stage
  private var screen: Screen { stage.screen }
  private var operations: RunOperations { stage.operations }
  private var live: LiveGroup?
  /// When the command on the stage printed something.
  private var lastOutput: Nanoseconds = 0
  private var talkers: [Talker] = []
  private var waiting: [Waiting] = []
  /// Running commands that left the stage.
  private var left: [Stream: GroupState] = [:]
  /// The stage belongs to somebody else.
  private var isSuspended = false

  /// Who prints nothing for so long leaves the stage to others.
  private static let longestSilence: Nanoseconds = 1_000_000_000
  /// What services print comes in lines with their names, where no group is open: they would hold the
  /// stage for ever.
  private var services: PrefixedOutput
  private var serviceNews: [Stream: Int] = [:]

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

  mutating func grew(
    _ stream: Stream, to byteCount: Int, start: Nanoseconds, at now: Nanoseconds
  ) {
    if isService(stream) {
      if live == nil, !isSuspended {
        services.grew(stream, to: byteCount, start: start, at: now)
      } else {
        serviceNews[stream] = byteCount
      }
      return
    }
    if let live {
      if live.stream == stream {
        lastOutput = now
        live.show(upTo: byteCount)
      } else {
        note(stream, byteCount, start: start, at: now)
      }
    } else if isSuspended {
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
    return state?.shown ?? 0
  }

  mutating func resume() {
    isSuspended = false
    if live == nil { openNext() }
  }

  private mutating func open(_ stream: Stream, upTo byteCount: Int, at now: Nanoseconds) {
    guard let log = operations.log(of: stream) else { return }
    let state = left.isEmpty ? nil : left.removeValue(forKey: stream)
    live = LiveGroup(stream, log, on: stage, from: state)
    lastOutput = now
    live?.show(upTo: byteCount)
  }

  mutating func ended(_ stream: Stream, isFailure: Bool) {
    talkers.removeAll { $0.stream == stream }
    let state = left.isEmpty ? nil : left.removeValue(forKey: stream)
    serviceNews[stream] = nil
    let isService = isService(stream)
    let log = operations.log(of: stream)
    if isSuspended || live.map({ $0.stream != stream }) ?? false {
      if isFailure, screen.isShared, !isSuspended, !isService {
        live?.interrupt()
        show(stream, log, from: state, as: .failed)
      } else {
        waiting.append(Waiting(stream: stream, log: log?.identity, state: state))
      }
      return
    }
    if isService { return services.ended(stream, isFailure: isFailure) }
    if let live {
      live.close(isFailure: isFailure)
    } else {
      show(stream, log, from: state, as: isFailure ? .failed : .succeeded)
    }
    live = nil
    openNext()
  }

  /// The whole rest of it.
  private func show(
    _ stream: Stream, _ log: LogFile?, from state: GroupState?,
    as command: CIGroup.State = .succeeded
  ) {
    guard let log else {
      return screen.writeUnreadable(operations.logPath(of: stream), .neverWritten)
    }
    LiveGroup(stream, log, on: stage, from: state, as: command).close()
  }

  private mutating func openNext() {
    for item in waiting {
      do throws(LogReadFailure) {
        let log = try operations.log(of: item.stream, writtenTo: item.log)
        if isService(item.stream) {
          services.close(item.stream, log)
        } else {
          show(item.stream, log, from: item.state)
        }
      } catch {
        screen.writeUnreadable(operations.logPath(of: item.stream), error)
      }
    }
    waiting.removeAll(keepingCapacity: true)
    for (stream, byteCount) in serviceNews { services.grew(stream, to: byteCount, start: 0, at: 0) }
    serviceNews.removeAll()
    guard let index = talkers.indices.min(by: { talkers[$0].start < talkers[$1].start }) else {
      return
    }
    let next = talkers.remove(at: index)
    open(next.stream, upTo: next.byteCount, at: next.lastOutput)
  }

  mutating func advance(to now: Nanoseconds) {
    while let due = deadline, due <= now, let live {
      live.interrupt()
      left[live.stream] = live.state
      self.live = nil
      openNext()
    }
  }

  var deadline: Nanoseconds? {
    guard live != nil, screen.isShared else { return nil }
    let silence = lastOutput + Self.longestSilence
    let isWanted = !waiting.isEmpty || !talkers.isEmpty
    return screen.ci?.deadline(silence: silence) ?? (isWanted ? silence : nil)
  }
}
