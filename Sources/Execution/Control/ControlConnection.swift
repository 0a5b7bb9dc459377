// One connection to the socket of a run: a request in one line, then an answer in lines. It knows nothing of
// what they mean, waits for nothing, and its memory does not grow with what the other side does.

import Glibc
import Plans
import Scheduling

/// A client of the run.
final class ControlConnection {
  enum News {
    /// Nothing is to be done yet.
    case nothing
    /// It has said all that it had to say, and still listens.
    case said
    case request(ArraySlice<UInt8>)
    /// The connection is of no use any more.
    case over
  }

  let descriptor: Int32
  let user: UInt32
  /// The number under which the loop hears of it.
  let number: Int
  /// The events that the loop waits for: readable, writable, or both.
  var interest = Interest.reading
  /// When it is given up, unless something comes or goes before.
  var due: Nanoseconds?
  /// True if nothing follows what is to be sent.
  var endsWhenSent = false
  /// The name of its request, if that is a file on which nobody waits: then the answer is written to one.
  var mail: String?
  /// What it wants to be told.
  var feed: ControlFeed?
  private var received: [UInt8] = []
  private var hasAsked = false
  /// True if it has closed its side; one that has sent its request may do so.
  private var hasSaidAll = false
  private var pending: [UInt8] = []
  private var sentCount = 0

  /// The time in which it must send its request, if its place is wanted.
  private static let requestPatience: Nanoseconds = 2_000_000_000
  /// The time in which it must take something, if its place is wanted.
  private static let patience: Nanoseconds = 5_000_000_000
  /// While more than this is to be sent, nothing is added.
  static let fullBuffer = 64 << 10

  /// Takes ownership of the descriptor.
  init(owning descriptor: Int32, of user: UInt32, number: Int, at now: Nanoseconds) {
    self.descriptor = descriptor
    self.user = user
    self.number = number
    due = now + Self.requestPatience
  }

  deinit { close(descriptor) }

  /// Postpones when it is given up.
  func giveMoreTime(at now: Nanoseconds) {
    due = now + (hasAsked ? Self.patience : Self.requestPatience)
  }

  /// What is to be waited for now.
  var wantedInterest: Interest { hasPending ? .writing : hasSaidAll ? .leaving : .reading }

  var isFull: Bool { pending.count - sentCount >= Self.fullBuffer }
  var hasPending: Bool { sentCount < pending.count }

  /// Reads what has come.
  func read() -> News {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
    if count < 0 { return errno == EAGAIN || errno == EINTR ? .nothing : .over }
    if count == 0 {
      hasSaidAll = true
      return hasAsked && (hasPending || feed?.follows == true) ? .said : .over
    }
    // One that sends more has not understood.
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

  /// Sends what the other side takes now; false if there is nobody any more.
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
