// The jobserver of a make that started oprun.

import Glibc

/// The contents of MAKEFLAGS when oprun was started.
package struct InheritedJobserver: Sendable {
  enum State: Hashable {
    /// MAKEFLAGS names no jobserver.
    case absent
    case usable(JobserverAddress)
    /// The jobserver cannot be used: its descriptors were not inherited.
    case unavailable
  }

  let flags: MakeFlags
  let state: State

  package static let none = InheritedJobserver(MakeFlags(""), .absent)

  private init(_ flags: MakeFlags, _ state: State) {
    self.flags = flags
    self.state = state
  }

  /// Must be called before any file is opened: a new one could get the number of a descriptor of the
  /// jobserver that is closed.
  package static func atStart() -> InheritedJobserver {
    guard let text = getenv("MAKEFLAGS") else { return .none }
    let flags = MakeFlags(String(cString: text))
    guard flags.namesJobserver else { return InheritedJobserver(flags, .absent) }
    switch flags.jobserver {
    case .pipe(let read, let write)?:
      guard isPipe(read, closedTo: O_WRONLY), isPipe(write, closedTo: O_RDONLY) else { break }
      return InheritedJobserver(flags, .usable(.pipe(read: read, write: write)))
    case .fifo(let path)?: return InheritedJobserver(flags, .usable(.fifo(path)))
    case nil: break
    }
    return InheritedJobserver(flags, .unavailable)
  }

  /// The contents of MAKEFLAGS if it comes from another machine: its jobserver is not here.
  static func ofAnotherMachine() -> InheritedJobserver {
    guard let text = getenv("MAKEFLAGS") else { return .none }
    let flags = MakeFlags(String(cString: text))
    return InheritedJobserver(flags, flags.namesJobserver ? .unavailable : .absent)
  }

  package var isUsable: Bool { if case .usable = state { true } else { false } }

  /// The number of jobs of that make, if it says so.
  package var jobs: Int? { flags.jobs }

  private static func isPipe(_ number: Int32, closedTo mode: Int32) -> Bool {
    var status = stat()
    let flags = fcntl(number, F_GETFL)
    return flags >= 0 && flags & O_ACCMODE != mode && fstat(number, &status) == 0
      && status.st_mode & S_IFMT == S_IFIFO
  }
}
