// One connection to the socket of a run: a request in one line, then an answer in lines. It does
// not know their meaning, never waits, and its memory does not grow with what the other side does.

import Glibc
import Plans
import Scheduling

/// A client of the run.
final class ControlConnection {
  enum News {
    /// Nothing is to be done yet.
    case nothing
    /// The client has sent everything, and still listens.
    case said
    case request(ArraySlice<UInt8>)
    /// The connection is of no use any more.
    case over
  }

  let descriptor: Int32
  let user: UInt32
  /// The number under which the loop reports its events.
  let number: Int
  /// The events that the loop waits for: readable, writable, or both.
  var interest = Interest.reading
  /// When the client is given up, unless bytes come or go before.
  var due: Nanoseconds?
  /// True if the connection ends when everything is sent.
  var endsWhenSent = false
  /// The name of the file of its request, from another machine: then the answer is written to a
  /// file. Nil for a socket.
  var mail: String?
  /// The state that the client is told.
  var feed: ControlFeed?
  private var received: [UInt8] = []
  private var hasAsked = false
  /// True if the client has closed its side, which it may do after its request.
  private var hasSaidAll = false
  private var pending: [UInt8] = []
  private var sentCount = 0

  /// The time in which the client must send its request, if its place is wanted.
  private static let requestPatience: Nanoseconds = 2_000_000_000
  /// The time in which the client must accept something, if its place is wanted.
  private static let patience: Nanoseconds = 5_000_000_000
  /// The number of pending bytes from which nothing is added.
  static let fullBuffer = 64 << 10

  /// Takes ownership of the descriptor.
  init(owning descriptor: Int32, of user: UInt32, number: Int, at now: Nanoseconds) {
    self.descriptor = descriptor
    self.user = user
    self.number = number
    due = now + Self.requestPatience
  }

  deinit { close(descriptor) }

  /// Postpones the time at which the client is given up.
  func giveMoreTime(at now: Nanoseconds) {
    due = now + (hasAsked ? Self.patience : Self.requestPatience)
  }

  /// The events to wait for now.
  var wantedInterest: Interest { hasPending ? .writing : hasSaidAll ? .leaving : .reading }

  var isFull: Bool { pending.count - sentCount >= Self.fullBuffer }
  var hasPending: Bool { sentCount < pending.count }

  /// Reads the bytes that have come.
  func read() -> News {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
    if count < 0 { return errno == EAGAIN || errno == EINTR ? .nothing : .over }
    if count == 0 {
      hasSaidAll = true
      return hasAsked && (hasPending || feed?.follows == true) ? .said : .over
    }
    // A client that sends more has not understood.
    if hasAsked { return .over }
    let newline = buffer[..<count].firstIndex(of: UInt8(ascii: "\n"))
    received += buffer[..<(newline ?? count)]
    if newline != nil {
      hasAsked = true
      defer { received = [] }
      return .request(received[...])
    }
    return received.count > ControlRequest.longestLine ? .over : .nothing
  }

  func add(_ line: String) { pending += line.utf8 }

  /// Sends as much as the other side accepts now; false if it is gone.
  func send(at now: Nanoseconds) -> Bool {
    while hasPending {
      let count = pending.withUnsafeBytes { bytes in
        let rest = UnsafeRawBufferPointer(rebasing: bytes[sentCount...])
        return mail == nil
          ? Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
          : Glibc.write(descriptor, rest.baseAddress, rest.count)
      }
      if count < 0 {
        due = due ?? now + Self.patience
        return errno == EAGAIN || errno == EINTR
      }
      sentCount += count
      due = now + Self.patience
    }
    pending.removeAll(keepingCapacity: pending.capacity <= 2 * Self.fullBuffer)
    sentCount = 0
    due = nil
    return true
  }
}
