// A command line of `sh`, started and waited for.
//
// Not Foundation's Process: it waits until a socket closes that the child inherits, so a test about
// processes that outlive their parent would wait for them, and children started at the same moment
// inherit each other's sockets.

package import Foundation
import Glibc

/// One process. What it prints goes into files.
package final class ChildProcess {
  package let processID: pid_t
  package let output: URL
  package let errors: URL
  private var status: Int32?

  /// The files `stdout` and `stderr` are made in `logs`. The process has its own copy of nothing
  /// but these, all signals at their defaults, and `environment` or else ours.
  package init(
    sh line: String, in folder: URL, logs: URL, environment: [String: String]? = nil
  ) throws {
    output = logs.appending(path: "stdout")
    errors = logs.appending(path: "stderr")
    let environment = environment ?? ProcessInfo.processInfo.environment
    processID = try spawn(
      ["/bin/sh", "-c", "cd \"$0\" || exit\n\(line)", folder.path(percentEncoded: false)],
      environment: environment.map { "\($0.key)=\($0.value)" }, output: output, errors: errors)
  }

  package var isRunning: Bool {
    status == nil && !poll(options: WNOHANG)
  }

  /// Waits for the end; the exit status as a shell would tell it: 128 + signal for a signal.
  package func wait() -> Int32 {
    while status == nil { _ = poll(options: 0) }
    return status ?? 0
  }

  private func poll(options: Int32) -> Bool {
    var raw: Int32 = 0
    guard waitpid(processID, &raw, options) == processID else { return false }
    let signal = raw & 0x7F
    status = signal == 0 ? (raw >> 8) & 0xFF : 128 + signal
    return true
  }
}

private func spawn(
  _ arguments: [String], environment: [String], output: URL, errors: URL
) throws -> pid_t {
  var actions = posix_spawn_file_actions_t()
  var attributes = posix_spawnattr_t()
  posix_spawn_file_actions_init(&actions)
  posix_spawnattr_init(&attributes)
  defer {
    posix_spawn_file_actions_destroy(&actions)
    posix_spawnattr_destroy(&attributes)
  }
  let create = O_WRONLY | O_CREAT | O_TRUNC | O_APPEND
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
  posix_spawn_file_actions_addopen(&actions, 1, output.path(percentEncoded: false), create, 0o644)
  posix_spawn_file_actions_addopen(&actions, 2, errors.path(percentEncoded: false), create, 0o644)
  var signals = sigset_t()
  sigemptyset(&signals)
  posix_spawnattr_setsigmask(&attributes, &signals)
  sigfillset(&signals)
  posix_spawnattr_setsigdefault(&attributes, &signals)
  posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

  let words = arguments.map { strdup($0) } + [nil]
  let variables = environment.map { strdup($0) } + [nil]
  defer { for text in words + variables { free(text) } }
  var processID: pid_t = 0
  let error = posix_spawn(&processID, arguments[0], &actions, &attributes, words, variables)
  guard error == 0 else { throw POSIXError(POSIXErrorCode(rawValue: error) ?? .EINVAL) }
  return processID
}
