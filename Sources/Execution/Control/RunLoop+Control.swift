// Requests from outside while the run goes on: the steps or queues that they name, the calls of the
// machine, and the answers.

import CLinux
import Caching
import Diagnostics
import Glibc
import Masking
import Plans
import RunFiles
import Running
import Scheduling

extension RunLoop {
  /// The time before the run listens. A run that is over by then has no socket: most steps take
  /// longer than this, and a socket costs as much as a tenth of a step.
  static let listeningDelay: Nanoseconds = 10_000_000

  /// The number of steps whose hashes cost more than asking the processor how it hashes fastest.
  private static let manySteps = 100

  /// The time between two looks at what followers of the run are to be told.
  private static let feedPause: Nanoseconds = 50_000_000

  /// Handles everything that is due by now.
  func tendControl(at time: Nanoseconds) {
    guard let server = control.server else { return openControl(at: time) }
    server.advance(to: time)
    for (connection, line) in server.takeMail(at: time) {
      answer(connection, line.prefix { $0 != UInt8(ascii: "\n") }, at: time)
      feed(connection, at: time)
    }
    guard let due = control.feedDue, due <= time else { return }
    control.feedDue = nil
    for connection in server.connections.values where connection.feed != nil {
      feed(connection, at: time)
    }
  }

  private func openControl(at time: Nanoseconds) {
    control.listeningDue = nil
    // The record of a step takes four hashes.
    if machine.steps.count >= RunLoop.manySteps { clinux_prepare_hashing() }
    control.server = ControlServer(
      in: options.directory, waiting, spare: executor.spareDescriptorCount,
      hasMailbox: executor.isOnCluster || options.directory.state?.fileSystem.network != nil)
    if control.server != nil || options.canBeChangedFromOutside { return }
    // Without a server, a wait for a change would last for ever.
    machine.canBeChangedFromOutside = false
    machine.advance(to: time)
  }

  /// Called when a connection is readable or writable, or has gone; or when there is a new one.
  func hearControl(_ number: Int, at time: Nanoseconds) {
    guard let server = control.server else { return }
    if number == ControlServer.listenerNumber { return server.accept(at: time) }
    // The connection may have gone because of another event of this turn.
    guard let connection = server.connections[number] else { return }
    switch connection.interest {
    case .writing: return feed(connection, at: time)
    case .leaving: return server.drop(connection)
    case .reading: break
    }
    switch connection.read() {
    case .nothing: break
    case .said: server.watch(connection)
    case .over: server.drop(connection)
    case .request(let line):
      answer(connection, line, at: time)
      feed(connection, at: time)
    }
  }

  /// Tells a client as much as it accepts now.
  private func feed(_ connection: ControlConnection, at time: Nanoseconds) {
    guard let server = control.server else { return }
    repeat {
      fill(connection, at: time)
      server.send(to: connection, at: time)
      if server.connections[connection.number] == nil { return }
    } while !connection.hasPending && connection.feed?.isUpToDate == false
  }

  private func fill(_ connection: ControlConnection, at time: Nanoseconds) {
    guard var feed = connection.feed else { return }
    let starts = feed.isUpToDate ? [:] : executor.startTimes
    if feed.isRunChanged, !connection.isFull {
      feed.isRunChanged = false
      connection.add(runLine(at: time))
    }
    while !connection.isFull {
      if !feed.isWhole { feed.skip(to: machine.nextOfInterest(from: feed.cursor)) }
      guard
        let item = feed.next(of: machine.steps.count, unplanned: options.unplanned.count)
      else { break }
      switch item {
      case .step(let operation, let end):
        if let line = stepLine(operation, end, in: feed, starts) { connection.add(line) }
      case .unplanned(let place): connection.add(unplannedLine(place))
      case .complete: connection.add("{\"complete\":true}\n")
      }
    }
    if feed.hasToldAll, !feed.follows { connection.endsWhenSent = true }
    connection.feed = feed
  }

  // MARK: Those who follow

  /// Notes an event for those who ask later, and for those who follow the run.
  func noteForOutside(_ event: RunEvent.Kind, at time: Nanoseconds) {
    control.note(event, at: time, queueCount: machine.plan.queues.count)
    guard let server = control.server, !server.connections.isEmpty else { return }
    for connection in server.connections.values where connection.feed?.follows == true {
      switch event {
      case .started(let operation, _), .ready(let operation), .waiting(let operation, _),
        .retrying(let operation, _, _), .settled(let operation, _, _),
        .reopened(let operation, _), .placed(let operation, _, _):
        connection.feed?.note(operation)
      case .ended(let operation, let role, let end):
        connection.feed?.note(operation, EndedCommand(role: role, end: end))
      case .controlled, .stopping: connection.feed?.isRunChanged = true
      case .began, .outputGrew, .terminalTaken, .terminalReturned, .appended, .resolved, .heldUp,
        .published, .orphansFound, .outOfReach, .restored, .notice, .finished:
        continue
      }
      if control.feedDue == nil { control.feedDue = time + RunLoop.feedPause }
    }
  }

  /// Called when the run is over: clients with a request are told the rest, and followers how the
  /// run ended. A client that does not accept that for a while, or not before a signal comes, is
  /// dropped, and sees that the last line is missing.
  func endControl(_ end: RunEnd) {
    guard let server = control.server else { return }
    server.stopAccepting()
    for connection in server.connections.values { conclude(connection, end) }
    let due = now + (grace(after: end) ?? RunLoop.readerGrace)
    var isAsked = false
    while !server.connections.isEmpty, !isAsked, now < due {
      for item in waiting.wait(until: due) {
        switch item.owner {
        case .signals, .watcher: isAsked = true
        case .control:
          if let connection = server.connections[item.number] { conclude(connection, end) }
        case .executor, .hashing, .caching, .readers, .jobControl, .jobs: pass(item, at: now)
        }
      }
    }
    server.end()
    control.server = nil
  }

  private func conclude(_ connection: ControlConnection, _ end: RunEnd) {
    guard let server = control.server else { return }
    if connection.feed == nil, !connection.hasPending { return server.drop(connection) }
    connection.endsWhenSent = connection.endsWhenSent || connection.feed == nil
    repeat {
      fill(connection, at: now)
      if connection.feed?.isUpToDate == true, !connection.endsWhenSent {
        connection.add(endLine(end))
        connection.endsWhenSent = true
      }
      server.send(to: connection, at: now)
    } while server.connections[connection.number] != nil && !connection.hasPending
  }
}

// Requests.
extension RunLoop {
  private func answer(
    _ connection: ControlConnection, _ line: ArraySlice<UInt8>, at time: Nanoseconds
  ) {
    do throws(ControlFailure) {
      let request = try ControlRequest(line: line, program: options.controlVersion ?? "")
      if request.verb == .status {
        if request.follows, control.server?.hasRoomForFollower == false {
          throw ControlFailure(
            "too many programs already follow the run",
            help: "use 'oprun status' without '--follow'")
        }
        connection.add(statusLine(at: time))
        connection.feed = ControlFeed(
          isWhole: request.isWhole, follows: request.follows && connection.mail == nil)
        return
      }
      connection.endsWhenSent = true
      let user = userName(of: connection.user) ?? String(connection.user)
      let action = try self.action(for: request)
      if case .cancelRun = action { hurryIfAskedBefore(at: time) }
      switch machine.control(ControlNote(action, by: user), at: time) {
      case .done: connection.add(answerLine(doneWords(action)))
      case .unchanged(let words): connection.add(answerLine(words))
      case .refused(let words, let help): throw ControlFailure(words, help: help)
      }
    } catch {
      connection.endsWhenSent = true
      connection.add(refusalLine(error))
    }
  }

  private func action(
    for request: ControlRequest
  ) throws(ControlFailure) -> ControlAction {
    let queue = try request.queue.map { name throws(ControlFailure) in try self.queue(name) }
    let step = try request.step.map { id throws(ControlFailure) in try self.step(id) }
    if let step, let queue, machine.scheduler.graph.queue(of: step) != queue {
      throw ControlFailure(
        "'\(request.step ?? "")' is not in the queue '\(request.queue ?? "")'")
    }
    switch request.verb {
    case .pause, .proceed:
      if step != nil {
        throw ControlFailure(
          "a step cannot be paused", help: "pause its queue, or the whole run")
      }
      return request.verb == .pause ? .pause(queue) : .proceed(queue)
    case .cancel: return step.map { .cancel($0) } ?? queue.map { .cancelQueue($0) } ?? .cancelRun
    case .retry:
      guard let step else { throw ControlFailure("'retry' wants a step") }
      return .retry(step)
    case .set: return try setting(request, queue, step)
    case .status: preconditionFailure("a question changes nothing")
    }
  }

  private func setting(
    _ request: ControlRequest, _ queue: QueueID?, _ step: OperationID?
  ) throws(ControlFailure) -> ControlAction {
    if let width = request.maxParallel {
      if step != nil { throw ControlFailure("'max_parallel' is set for a queue, not for a step") }
      return .setWidth(queue ?? .default, width)
    }
    guard let priority = request.priority.flatMap({ Int16(exactly: $0) }) else {
      throw ControlFailure("'set' wants 'max_parallel' or 'priority'")
    }
    guard let step else { throw ControlFailure("'priority' wants a step") }
    return .setPriority(step, priority)
  }

  private func queue(_ name: String) throws(ControlFailure) -> QueueID {
    let names = machine.plan.queues.map(\.name)
    if let index = names.firstIndex(of: name) { return QueueID(index) }
    let close = suggestion(for: name, among: names)
    throw ControlFailure(
      "unknown queue \(quoted(name)) in this run",
      help: didYouMean(close)
        ?? "the queues are \(names.joined(separator: ", "))")
  }

  private func step(_ id: String) throws(ControlFailure) -> OperationID {
    let operations = (0..<machine.steps.count).lazy.map { OperationID($0) }
    if let found = operations.first(where: { self.name(of: $0) == id }) { return found }
    if options.unplanned.contains(where: { $0.id == id }) {
      throw ControlFailure("'\(id)' has ended: it is up to date")
    }
    let close = suggestion(for: id, among: operations.map { self.name(of: $0) })
    throw ControlFailure(
      "unknown step \(quoted(id)) in this run", help: didYouMean(close))
  }

  /// The name of an operation outside of the run.
  func name(of operation: OperationID) -> String {
    let id = machine.steps[operation].id
    return masker?.name(id, number: operation.index) ?? id
  }
}
