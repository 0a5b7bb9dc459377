// A child process of the tests. Foundation's `Process` waits until everybody who inherited its
// socket is gone, and so hangs on exactly what is tested here.

import Foundation

/// A shell script in a process group of its own.
final class Child {
  let processID: Int32
  private var status: Int32?

  init(script: String) throws {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // The threads that run tests have signals blocked.
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETPGROUP) | Int16(POSIX_SPAWN_SETSIGMASK))
    let arguments: [UnsafeMutablePointer<CChar>?] =
      [strdup("/bin/sh"), strdup("-c"), strdup(script), nil]
    defer { arguments.forEach { free($0) } }
    var child: Int32 = 0
    let error = posix_spawn(&child, "/bin/sh", nil, &attributes, arguments, environ)
    guard error == 0 else { throw POSIXError(POSIXErrorCode(rawValue: error) ?? .EIO) }
    processID = child
  }

  /// The exit status as a shell would show it.
  func wait() -> Int32 {
    while !reap(options: 0) {}
    return status ?? -1
  }

  var hasEnded: Bool { reap(options: WNOHANG) }

  private func reap(options: Int32) -> Bool {
    if status != nil { return true }
    var raw: Int32 = 0
    guard waitpid(processID, &raw, options) == processID else { return false }
    let signal = raw & 0x7f
    status = signal == 0 ? raw >> 8 & 0xff : 128 + signal
    return true
  }
}
