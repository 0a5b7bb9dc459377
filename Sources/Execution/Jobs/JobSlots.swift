// The slots of the default queue, shared with make and other tools: through a jobserver of our own, or
// through that of the make that started oprun.

import Diagnostics
import Glibc
import Plans
import RunFiles
import Running

/// The user's decisions about the sharing of slots.
package struct JobOptions: Sendable {
  package var inherited = InheritedJobserver.none
  /// The option `--jobserver`; nil if it was not given.
  package var isOn: Bool?
  /// True if the width of the run was given (`-j`): then nobody else's slots count.
  package var hasOwnWidth = false

  package init() {}

  /// True if the run uses the slots of the make that started oprun.
  package var usesInherited: Bool { inherited.isUsable && isOn != false && !hasOwnWidth }
}

/// The access to a jobserver that a command gets.
struct JobAccess {
  /// The ends of the pipe, which the command inherits with these numbers.
  let read: Int32
  let write: Int32
  /// The MAKEFLAGS of the command.
  let flags: String
}

/// The jobserver of a run in progress.
final class JobSlots {
  private(set) var tokens: JobTokens
  let access: JobAccess
  /// True if steps without `jobserver` share slots.
  let sharesByDefault: Bool
  /// True while the loop waits for a token.
  var isWatched = false
  private let pipe: TokenPipe
  /// The ends that commands inherit. Both belong to open files of their own, with the flags that other
  /// programs expect.
  private let readEnd: Descriptor
  private let writeEnd: Descriptor
  /// The commands that can see the pool.
  private var users: Set<CommandKey> = []

  /// Opens the pipe at two paths, which may be the same.
  private init(
    _ tokens: JobTokens, at paths: (read: String, write: String), sharesByDefault: Bool,
    flags: (_ read: Int32, _ write: Int32) -> String
  ) throws(SystemError) {
    let pipe = try TokenPipe(paths.read, paths.write)
    let readEnd = try JobSlots.end(paths.read, O_RDONLY)
    let writeEnd = try JobSlots.end(paths.write, O_WRONLY)
    access = JobAccess(
      read: readEnd.number, write: writeEnd.number,
      flags: flags(readEnd.number, writeEnd.number))
    self.readEnd = readEnd
    self.writeEnd = writeEnd
    self.pipe = pipe
    self.tokens = tokens
    self.sharesByDefault = sharesByDefault
  }

  /// Uses the jobserver of the make that started oprun.
  convenience init(at address: JobserverAddress, flags: MakeFlags) throws(SystemError) {
    let paths: (read: String, write: String)
    var path: String?
    switch address {
    case .fifo(let name):
      paths = (name, name)
      path = name
    case .pipe(let read, let write): paths = ("/proc/self/fd/\(read)", "/proc/self/fd/\(write)")
    }
    try self.init(JobTokens(size: nil), at: paths, sharesByDefault: true) { read, write in
      flags.sharing(flags.jobs, read: read, write: write, path: path)
    }
  }

  /// Makes a jobserver in the directory of the run, with the absolute path `folder`.
  convenience init(
    width: Int, in directory: RunDirectory, _ folder: String, sharesByDefault: Bool,
    inherited: MakeFlags
  ) throws(SystemError) {
    try directory.makePipe(RunDirectory.jobserverName)
    let path = "\(folder)/\(RunDirectory.jobserverName)"
    let tokens = JobTokens(size: width)
    try self.init(tokens, at: (path, path), sharesByDefault: sharesByDefault) { read, write in
      inherited.sharing(
        tokens.slots, read: read, write: write, path: MakeFlags.canHold(path) ? path : nil)
    }
  }

  /// The descriptor that is readable when there may be a token.
  var number: Int32 { pipe.number }

  // MARK: Slots

  /// Takes a token. False if there is none at present.
  func take() -> Bool {
    while let token = pipe.take() {
      if tokens.took(token) { return true }
    }
    return false
  }

  /// Puts tokens that are not needed into the pool. True if that changes the number of slots.
  func giveSurplus(inUse: Int) -> Bool {
    let surplus = tokens.takeSurplus(inUse: inUse)
    if surplus.isEmpty { return false }
    let count = pipe.put(surplus)
    tokens.keep(surplus[count...])
    return count > 0
  }

  /// Adapts our own pool to the width of the queue. True if that changes the number of slots.
  func resize(to width: Int) -> Bool { tokens.resize(to: width) }

  func began(_ key: CommandKey) {
    if users.insert(key).inserted { tokens.began() }
  }

  /// Called for every command that has ended; those that cannot see the pool are ignored. True if the
  /// number of slots may have changed.
  func ended(_ key: CommandKey) -> Bool {
    guard users.remove(key) != nil else { return false }
    guard let limit = tokens.ended() else { return false }
    pipe.drain(to: limit)
    return true
  }

  /// Opens an end for commands, with a number that scripts do not use.
  private static func end(_ path: String, _ mode: Int32) throws(SystemError) -> Descriptor {
    let opened = try TokenPipe.open(path, mode)
    for number: Int32 in [100, 10] {
      let copy = fcntl(opened.number, F_DUPFD_CLOEXEC, number)
      if copy >= 0 { return Descriptor(owning: copy) }
    }
    return opened
  }
}
