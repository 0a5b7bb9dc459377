// Waits for the kernel: epoll, with an owner and a number for each descriptor.

import CLinux
import Diagnostics
import Glibc

/// The set of descriptors that a run waits for.
struct Readiness: ~Copyable {
  private let epoll: Descriptor
  private var events = [epoll_event](repeating: epoll_event(), count: 64)

  init() throws(SystemError) {
    let number = epoll_create1(Int32(EPOLL_CLOEXEC))
    guard number >= 0 else { throw .last("cannot wait for events") }
    epoll = Descriptor(owning: number)
  }

  /// Watches a descriptor for something to read, or for room to write; then `wait` returns `item`.
  /// The departure of the other side is reported in any case.
  func add(
    _ descriptor: Int32, _ item: Ready, _ interest: Interest = .reading
  ) throws(SystemError) {
    var event = epoll_event()
    switch interest {
    case .reading: event.events = EPOLLIN.rawValue
    case .writing: event.events = EPOLLOUT.rawValue
    case .leaving: event.events = 0
    }
    event.data.u64 = UInt64(item.owner.rawValue) << 32 | UInt64(item.number)
    guard epoll_ctl(epoll.number, EPOLL_CTL_ADD, descriptor, &event) == 0 else {
      throw .last("cannot watch a descriptor")
    }
  }

  func remove(_ descriptor: Int32) {
    var event = epoll_event()
    epoll_ctl(epoll.number, EPOLL_CTL_DEL, descriptor, &event)
  }

  /// Returns what is ready; empty after the timeout. `nil` waits for ever.
  mutating func wait(nanoseconds timeout: Int64?) -> [Ready] {
    // The timeout is rounded up, because waking before a deadline would only mean waiting again.
    let milliseconds = timeout.map { Int32(clamping: max(0, $0 + 999_999) / 1_000_000) } ?? -1
    var count = epoll_wait(epoll.number, &events, Int32(events.count), milliseconds)
    // A process that was stopped goes on with EINTR (signal(7)), whatever has become ready
    // meanwhile.
    if count < 0 { count = epoll_wait(epoll.number, &events, Int32(events.count), 0) }
    guard count > 0 else { return [] }  // the timeout, or EINTR: the loop tries again
    return (0..<Int(count)).map { index in
      let data = events[index].data.u64
      guard let owner = Owner(rawValue: UInt32(data >> 32)) else {
        preconditionFailure("the kernel reported a descriptor that nobody has added")
      }
      return Ready(owner: owner, number: Int(UInt32(truncatingIfNeeded: data)))
    }
  }
}
