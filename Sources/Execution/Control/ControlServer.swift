// The socket of a run, and its clients. No client can hold the run up, and what is kept for them is
// bounded. docs/design-execution.md, “Requests from outside”.

import CLinux
import Diagnostics
import Glibc
import Plans
import RunFiles
import Scheduling

/// Listens in the directory of the run, until the run is over.
final class ControlServer {
  private let listener: Int32
  private let directory: RunDirectory
  private let waiting: any Waiting
  /// The largest number of connected clients; others wait until one has gone.
  private let limit: Int
  private var isListening = false
  /// When the server listens again; nil if nothing was refused.
  private var listeningDue: Nanoseconds?
  private var isOver = false
  private(set) var connections: [Int: ControlConnection] = [:]
  private var lastNumber = ControlServer.listenerNumber
  /// Requests from other machines; nil if none are expected.
  private let mailbox: RunMailbox?
  /// When the mailbox is looked into.
  private var mailDue: Nanoseconds = 0

  static let listenerNumber = 0
  private static let mostConnections = 16
  /// The largest number of clients that may stay until the end of the run: the other places are for
  /// those who ask and go.
  private var followerLimit: Int { limit * 3 / 4 }
  /// The time between two looks into the mailbox.
  private static let mailInterval: Nanoseconds = 1_000_000_000
  /// The time between two attempts when there is no descriptor for anybody.
  private static let nextAttempt: Nanoseconds = 100_000_000
  /// The number of clients that may wait to be accepted.
  private static let backlog: Int32 = 64

  /// Nil if there can be no socket, which no run needs. `spare` is the number of descriptors that
  /// it may use; `hasMailbox` is true if other machines may ask.
  init?(in directory: RunDirectory, _ waiting: any Waiting, spare: Int, hasMailbox: Bool) {
    limit = min(Self.mostConnections, spare - 1)
    self.directory = directory
    self.waiting = waiting
    guard limit > 0 else { return nil }
    var listener = clinux_listen(directory.controlPath, Self.backlog)
    // Only a command of this run can have put something there.
    if listener == -EADDRINUSE, directory.remove(RunDirectory.controlName) {
      listener = clinux_listen(directory.controlPath, Self.backlog)
    }
    self.listener = listener
    // After the socket: a client that finds a mailbox and no socket does not wait for one.
    mailbox = hasMailbox ? RunMailbox.make(in: directory) : nil
    guard listener >= 0 || mailbox != nil else { return nil }
    listen()
    if !isListening {
      directory.remove(RunDirectory.controlName)
      if mailbox == nil { return nil }
    }
  }

  deinit { if listener >= 0 { close(listener) } }

  /// When a client is given up, or the mailbox is looked into.
  var deadline: Nanoseconds? {
    let due = connections.isEmpty ? nil : connections.values.lazy.compactMap(\.due).min()
    return earlier(earlier(due, listeningDue), mailbox == nil ? nil : mailDue)
  }

  private func listen() {
    if listener < 0 || isOver || isListening || connections.count >= limit { return }
    do {
      try waiting.add(listener, for: .control, number: Self.listenerNumber, .reading)
      isListening = true
    } catch {
      // Connected clients are still heard, and then the server tries again.
    }
  }

  /// Accepts clients that wait: only those of the user of the run, and of root.
  func accept(at now: Nanoseconds) {
    while connections.count < limit {
      var user: UInt32 = 0
      let descriptor = clinux_accept(listener, &user)
      if descriptor < 0 {
        if [-EMFILE, -ENFILE, -ENOBUFS, -ENOMEM].contains(descriptor) { pauseListening(at: now) }
        break
      }
      lastNumber += 1
      let connection = ControlConnection(
        owning: descriptor, of: user, number: lastNumber, at: now)
      guard user == geteuid() || user == 0 else { continue }
      do {
        try waiting.add(descriptor, for: .control, number: lastNumber, .reading)
        connections[lastNumber] = connection
      } catch {
        break
      }
    }
    if connections.count >= limit { stopListening() }
  }

  private func stopListening() {
    if isListening { waiting.remove(listener) }
    isListening = false
  }

  /// Stops watching the socket for a while: clients that wait to be accepted would be reported again and again.
  private func pauseListening(at now: Nanoseconds) {
    stopListening()
    listeningDue = now + Self.nextAttempt
  }

  /// True if one more client may stay.
  var hasRoomForFollower: Bool {
    connections.values.lazy.filter { $0.feed?.follows == true }.count < followerLimit
  }

  /// Takes requests of other machines, each with the connection for its answer. A request whose
  /// answer cannot be written, for lack of space or of descriptors, is carried out all the same: it
  /// may be about that.
  func takeMail(at now: Nanoseconds) -> [(connection: ControlConnection, line: [UInt8])] {
    guard let mailbox, mailDue <= now else { return [] }
    mailDue = now + Self.mailInterval
    return mailbox.takeRequests(longest: ControlRequest.longestLine).map { request in
      let file = mailbox.beginAnswer(to: request.name)
      lastNumber += 1
      let connection = ControlConnection(
        owning: file, of: request.user, number: lastNumber, at: now)
      connection.mail = request.name
      connections[lastNumber] = connection
      return (connection, request.line)
    }
  }

  func drop(_ connection: ControlConnection) {
    guard connections.removeValue(forKey: connection.number) != nil else { return }
    if let name = connection.mail {
      mailbox?.endAnswer(to: name, isWhole: connection.endsWhenSent && !connection.hasPending)
      return
    }
    waiting.remove(connection.descriptor)
    listen()
  }

  /// Gives up clients that do nothing and whose places others may want. On a busy machine, a client that has just
  /// connected may need a while to ask.
  func advance(to now: Nanoseconds) {
    if let due = listeningDue, due <= now {
      listeningDue = nil
      listen()
    }
    let isFull = connections.count >= limit
    let lacksRoomForFollower = !hasRoomForFollower
    for connection in connections.values where connection.due.map({ $0 <= now }) == true {
      let isWanted = isFull || lacksRoomForFollower && connection.feed?.follows == true
      if isWanted { drop(connection) } else { connection.giveMoreTime(at: now) }
    }
  }

  /// Sends what can be sent, and waits for the rest.
  func send(to connection: ControlConnection, at now: Nanoseconds) {
    guard connection.send(at: now) else { return drop(connection) }
    if connection.endsWhenSent, !connection.hasPending { return drop(connection) }
    watch(connection)
  }

  /// Waits for the next event of the connection.
  func watch(_ connection: ControlConnection) {
    let interest = connection.wantedInterest
    if interest == connection.interest { return }
    waiting.remove(connection.descriptor)
    do {
      try waiting.add(connection.descriptor, for: .control, number: connection.number, interest)
      connection.interest = interest
    } catch {
      drop(connection)
    }
  }

  /// Accepts no more clients.
  func stopAccepting() {
    stopListening()
    listeningDue = nil
    isOver = true
  }

  /// Closes the server at the end of the run.
  func end() {
    stopAccepting()
    for connection in connections.values { drop(connection) }
    directory.remove(RunDirectory.controlName)
    mailbox?.end(in: directory)
  }
}
