// A process of oprun that calls commands of Slurm, one at a time, so that the loop goes on. It is asked
// and answers through a socket.

import CLinux
import Diagnostics
import Glibc
import Plans
import Processes
import Scheduling

final class SlurmWorker {
  /// The process whose end is waited for. It is never signalled: the number may be that of another process by then.
  let processID: Int32
  /// The socket for its answers; close-on-exec and non-blocking.
  let socket: Int32
  private var said: [UInt8] = []

  private init(processID: Int32, socket: Int32) {
    self.processID = processID
    self.socket = socket
  }

  /// Closes the socket, which ends the process and the command that it has called.
  deinit { close(socket) }

  /// Ends the process with the command that it has called, and waits for that, but not for long.
  /// Without the wait, the process would end with oprun, and the command would go on.
  func dismiss() {
    shutdown(socket, Int32(SHUT_WR))
    let deadline = monotonicTime() + 1_000_000_000
    var piece = [UInt8](repeating: 0, count: 1 << 12)
    while monotonicTime() < deadline {
      wait(until: deadline)
      if recv(socket, &piece, piece.count, 0) == 0 { return }
    }
  }

  /// Waits until there is something to take, or until this time.
  func wait(until time: Int64) {
    let left = max(0, (time - monotonicTime()) / 1_000_000)
    var waiting = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    poll(&waiting, 1, Int32(clamping: left))
  }

  /// Starts a process. `environment` is that of the commands, `NAME=value`.
  static func start(_ environment: [String]) throws(SystemError) -> SlurmWorker {
    var ends: [Int32] = [0, 0]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else {
      throw .last("cannot start a process for Slurm")
    }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[1]) }
    let process: Int32
    do throws(SystemError) {
      process = try OwnProcess.start(
        "start a process for Slurm", named: "oprun-slurm", keeping: [ends[1]]
      ) { serve(ends[1], environment) }
    } catch {
      close(ends[0])
      throw error
    }
    _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
    return SlurmWorker(processID: process, socket: ends[0])
  }

  /// Gives the idle process a call; false if the process is gone.
  func ask(_ call: SlurmCall) -> Bool {
    let texts = [call.input, String(call.limit / 1_000_000)] + call.words
    return Self.send(Self.message(texts), to: socket)
  }

  /// Reads the available part of the answer; returns it once it is complete.
  func take() -> SlurmAnswer? {
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = recv(socket, &piece, piece.count, 0)
      if count > 0 {
        said += piece[..<count]
      } else if count == 0 {
        return SlurmAnswer(exitStatus: nil, errors: "the process that calls Slurm was killed")
      } else if errno != EINTR {
        break
      }
    }
    guard let texts = Self.texts(in: said), let answer = SlurmAnswer(texts) else { return nil }
    said = []
    return answer
  }

  // MARK: Messages

  /// A message: the number of bytes of the rest, then each text after its own number of bytes.
  private static func message(_ texts: [String]) -> [UInt8] {
    var body: [UInt8] = []
    for text in texts {
      append(text.utf8.count, to: &body)
      body += Array(text.utf8)
    }
    var message: [UInt8] = []
    append(body.count, to: &message)
    return message + body
  }

  private static func append(_ number: Int, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: UInt64(number).littleEndian) { bytes.append(contentsOf: $0) }
  }

  /// The texts of a message; nil if it is not complete.
  private static func texts(in message: [UInt8]) -> [String]? {
    guard let size = number(in: message, at: 0), message.count - 8 >= size else { return nil }
    var texts: [String] = []
    var place = 8
    while place < size + 8, let count = number(in: message, at: place),
      count <= message.count - place - 8
    {
      texts.append(String(decoding: message[(place + 8)..<(place + 8 + count)], as: UTF8.self))
      place += 8 + count
    }
    return texts
  }

  private static func number(in bytes: [UInt8], at place: Int) -> Int? {
    guard bytes.count - place >= 8 else { return nil }
    let number = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: place, as: UInt64.self) }
    return Int(exactly: UInt64(littleEndian: number))
  }

  private static func send(_ message: [UInt8], to socket: Int32) -> Bool {
    var sent = 0
    while sent < message.count {
      let count = message.withUnsafeBytes { buffer in
        Glibc.send(
          socket, buffer.baseAddress.map { $0 + sent }, message.count - sent,
          Int32(MSG_NOSIGNAL))
      }
      if count > 0 {
        sent += count
      } else if errno == EAGAIN {
        var room = pollfd(fd: socket, events: Int16(POLLOUT), revents: 0)
        guard poll(&room, 1, 1000) > 0 else { return false }
      } else if errno != EINTR {
        return false
      }
    }
    return true
  }

  // MARK: In the new process

  private static func serve(_ socket: Int32, _ environment: [String]) {
    // Slurm passes the limits of `sbatch` on to jobs, which would be taken for processes that this
    // run left.
    DescentMark.giveUp()
    while let texts = receive(socket), texts.count > 2, let limit = Nanoseconds(texts[1]) {
      let call = SlurmCall(
        words: Array(texts[2...]), input: texts[0], limit: limit * 1_000_000)
      let answer = SlurmProcess.run(call, environment, for: socket)
      guard send(message(answer), to: socket) else { break }
    }
  }

  private static func receive(_ socket: Int32) -> [String]? {
    var message: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 14)
    while true {
      if let texts = texts(in: message) { return texts }
      let count = recv(socket, &piece, piece.count, 0)
      if count > 0 {
        message += piece[..<count]
      } else if count == 0 || errno != EINTR {
        return nil
      }
    }
  }
}
