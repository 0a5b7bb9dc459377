// Why the state directory cannot be used, and what to do about it: the messages.

import Diagnostics
import Glibc

/// Why nothing may run: the state of a run would not be safe, or cannot be kept.
package struct StateFailure: Error, Hashable, Sendable {
  package let message: String
  /// How to make it possible to run something.
  package let help: String?
  /// How to make it possible to see or change the existing runs, for which no other directory will do.
  package let helpWithRuns: String?

  init(_ message: String, help: String? = nil, helpWithRuns: String? = nil) {
    self.message = message
    self.help = help
    self.helpWithRuns = helpWithRuns ?? help
  }

  init(_ error: SystemError) { self.init(error.message) }

  static func foreignFolder(_ path: String, owner: uid_t) -> StateFailure {
    let asOwner = "run oprun as \(userName(owner))"
    let toOwnIt = owner == 0 ? "run chown -R \(geteuid()) \(quoted(path)) as root" : asOwner
    return StateFailure(
      "the state directory \(quoted(path)) belongs to \(userName(owner)), wanted \(userName(geteuid())), "
        + "the user that runs oprun", help: "\(toOwnIt), or \(anotherPlace)",
      helpWithRuns: asOwner)
  }

  static func foreignLink(_ path: String, owner: uid_t) -> StateFailure {
    StateFailure(
      "the state directory \(quoted(path)) is a link owned by \(userName(owner)), wanted a directory or a link "
        + "owned by \(userName(geteuid())), the user that runs oprun", help: anotherPlace)
  }

  /// The failure for a directory that others can write to. A new directory has another mode only if
  /// the file system does not support modes.
  static func openToOthers(_ path: String, mode: mode_t, isNew: Bool) -> StateFailure {
    let digits = String(mode & 0o7777, radix: 8)
    let found = "others can write to the state directory \(quoted(path)) (mode 0\(digits))"
    if isNew {
      return StateFailure("\(found), and its file system does not store modes", help: anotherPlace)
    }
    return StateFailure(
      "\(found), wanted only \(userName(geteuid()))",
      help: "run chmod go-w \(quoted(path)), or \(anotherPlace)")
  }

  /// The failure for something that cannot be opened as a directory.
  static func unusable(_ path: String, _ status: stat, _ error: SystemError) -> StateFailure {
    let kind = FileKind(status.st_mode)
    if kind == .folder {
      return status.st_uid == geteuid()
        ? StateFailure(error) : foreignFolder(path, owner: status.st_uid)
    }
    return StateFailure(
      "the state directory \(quoted(path)) is \(kind.words), wanted a directory", help: anotherPlace
    )
  }

  /// The failure for a directory that cannot be made, for the reason in `errno`.
  static func notMade(_ path: String) -> StateFailure {
    let isRefused = [EACCES, EPERM, EROFS].contains(errno)
    return StateFailure(
      SystemError.last("cannot create \(quoted(path))").message,
      help: isRefused ? anotherPlace : nil)
  }

  private static let anotherPlace = "choose another with --state-dir or OPRUN_STATE_DIR"
}

/// The user in words: `user 1000`.
func userName(_ user: uid_t) -> String { user == 0 ? "root" : "user \(user)" }

/// The kinds of files that a path may lead to.
enum FileKind {
  case regular, folder, link, fifo, socket, device

  init(_ mode: mode_t) {
    switch mode & S_IFMT {
    case S_IFREG: self = .regular
    case S_IFDIR: self = .folder
    case S_IFLNK: self = .link
    case S_IFIFO: self = .fifo
    case S_IFSOCK: self = .socket
    default: self = .device
    }
  }

  /// The kind in words: `a link`.
  var words: String {
    switch self {
    case .regular: "a file"
    case .folder: "a directory"
    case .link: "a link"
    case .fifo: "a FIFO"
    case .socket: "a socket"
    case .device: "a device"
    }
  }
}
