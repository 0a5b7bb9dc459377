// File descriptors with an owner: closed once, at the latest when the owner is destroyed.

import CLinux
package import Diagnostics
import Glibc

/// An open file descriptor, close-on-exec.
struct Descriptor: ~Copyable, Sendable {
  let number: Int32

  /// Takes ownership of the descriptor.
  init(owning number: Int32) { self.number = number }

  deinit { close(number) }

  /// Gives up ownership of the descriptor.
  consuming func release() -> Int32 {
    let number = number
    discard self
    return number
  }

  /// Opens a file; `mode` is for a file that the call creates.
  static func open(_ path: String, _ flags: Int32, mode: mode_t = 0o600) -> Result {
    let number = Glibc.open(path, flags | O_CLOEXEC, mode)
    return number < 0 ? .failure(errno) : .success(Descriptor(owning: number))
  }

  enum Result: ~Copyable {
    case success(Descriptor)
    case failure(Int32)

    consuming func get(_ action: @autoclosure () -> String) throws(SystemError) -> Descriptor {
      switch consume self {
      case .success(let descriptor): return descriptor
      case .failure(let errno): throw SystemError(action(), errno: errno)
      }
    }
  }
}

/// The first number for descriptors that commands need. The kernel's smallest table has 64.
private let firstForCommands: Int32 = 48

/// Moves a descriptor that commands need behind those that none of them needs, so that the latter
/// need not be copied for each command. It stays where it is if the limit allows no such number.
func movedUp(_ descriptor: Int32) -> Int32 {
  let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, firstForCommands)
  if copy < 0 { return descriptor }
  close(descriptor)
  return copy
}

extension SystemError {
  /// The failure that `errno` describes; call this immediately after the system call.
  static func last(_ action: String) -> SystemError { SystemError(action, errno: Glibc.errno) }
}

/// Opens those standard streams that are closed, so that no other file gets their numbers. A
/// standard output that was closed still refuses text.
func openStandardStreams() {
  for stream: Int32 in 0...2 where fcntl(stream, F_GETFD) < 0 {
    _ = Glibc.open("/dev/null", stream == STDOUT_FILENO ? O_RDONLY : O_RDWR)
  }
}

/// The absolute path of the directory where oprun was started.
package func currentFolder() throws(SystemError) -> String {
  guard let folder = getcwd(nil, 0) else { throw .last("cannot find the current directory") }
  defer { free(folder) }
  return String(cString: folder)
}

/// The time since boot in the unit of `/proc/<id>/stat`, hundredths of a second; it includes the
/// time in which the machine slept.
func ticksSinceBoot() -> UInt64 { UInt64(max(0, timeSinceBoot())) / 10_000_000 }
