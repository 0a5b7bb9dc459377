// A process of oprun that finds something out and returns it through a pipe, so that the loop continues.

import Diagnostics
import Glibc
import Processes
import RunFiles

/// A child process that answers one question. The answer is complete when the pipe ends.
final class AnswerProcess {
  let processID: Int32
  /// The descriptor that the answer comes from; close-on-exec and non-blocking.
  let output: Int32
  private let own: OwnProcesses
  private var said: [UInt8] = []
  private var hasEnded = false

  private init(processID: Int32, output: Int32, own: OwnProcesses) {
    self.processID = processID
    self.output = output
    self.own = own
  }

  /// Ends the process if its answer is not complete.
  deinit {
    if !hasEnded { own.kill(processID) }
    close(output)
  }

  /// Starts a process, which is added to `own`. `answer` runs in it, and only reads files.
  static func start(
    _ purpose: String, named name: String, own: OwnProcesses, _ answer: () -> [UInt8]
  ) throws(SystemError) -> AnswerProcess {
    let (outlet, inlet) = try OwnProcess.pipe(purpose)
    defer { close(inlet) }
    do throws(SystemError) {
      let process = try OwnProcess.start(purpose, named: name, keeping: [inlet]) {
        _ = writeFully(answer(), to: inlet)
      }
      _ = fcntl(outlet, F_SETFL, O_NONBLOCK)
      own.insert(process)
      return AnswerProcess(processID: process, output: outlet, own: own)
    } catch {
      close(outlet)
      throw error
    }
  }

  /// Reads the available part of the answer; returns it once the pipe has ended. The answer is cut
  /// short if the process was killed.
  func take() -> [UInt8]? {
    hasEnded = !readAvailable(from: output, into: &said)
    return hasEnded ? said : nil
  }
}
