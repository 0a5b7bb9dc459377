// A child process of the tests. Foundation's `Process` waits until everybody who inherited its
// socket is gone, and so hangs on exactly what is tested here.

import Foundation

/// A shell script in its own process group, with our standard input and output.
package final class Child {
  package let processID: Int32
  private var status: Int32?

  /// Starts a script; without an environment it gets ours.
  package init(script: String, environment: [String: String]? = nil) throws {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // The threads that run tests have signals blocked.
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETPGROUP) | Int16(POSIX_SPAWN_SETSIGMASK))
    // What other tests have open at this moment would count against the limits of this one.
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    _ = addCloseFrom(&actions, STDERR_FILENO + 1)
    let arguments: [UnsafeMutablePointer<CChar>?] =
      [strdup("/bin/sh"), strdup("-c"), strdup(script), nil]
    let variables = environment.map { $0.map { strdup("\($0)=\($1)") } + [nil] }
    defer { for text in arguments + (variables ?? []) { free(text) } }
    var child: Int32 = 0
    let error =
      if let variables {
        posix_spawn(&child, "/bin/sh", &actions, &attributes, arguments, variables)
      } else {
        posix_spawn(&child, "/bin/sh", &actions, &attributes, arguments, environ)
      }
    guard error == 0 else { throw POSIXError(POSIXErrorCode(rawValue: error) ?? .EIO) }
    processID = child
  }

  /// Ends a child that was not reaped, because the monitor of exit tests would hang on it.
  deinit {
    if hasEnded { return }
    kill(processID, SIGKILL)
    _ = wait()
  }

  /// The exit status as a shell would show it.
  package func wait() -> Int32 {
    while !reap(options: 0) {}
    return status ?? -1
  }

  package var hasEnded: Bool { reap(options: WNOHANG) }

  private func reap(options: Int32) -> Bool {
    if status != nil { return true }
    var raw: Int32 = 0
    guard waitpid(processID, &raw, options) == processID else { return false }
    let signal = raw & 0x7f
    status = signal == 0 ? raw >> 8 & 0xff : 128 + signal
    return true
  }
}

/// <spawn.h> shows it only to those who ask for all of GNU.
@_silgen_name("posix_spawn_file_actions_addclosefrom_np")
private func addCloseFrom(
  _ actions: UnsafeMutablePointer<posix_spawn_file_actions_t>, _ first: Int32
) -> Int32
