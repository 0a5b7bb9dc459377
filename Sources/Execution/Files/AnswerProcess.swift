// A process of oprun that finds something out and returns it through a pipe, so that the loop continues.

import Diagnostics
import Glibc
import Processes

/// One question. Its answer is complete when the pipe ends.
final class AnswerProcess {
  let processID: Int32
  /// The answer of the process comes from here; close-on-exec, and never waited for.
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

  /// The process is one of `own`. `answer` runs in it, and only reads files.
  static func start(
    _ purpose: String, named name: String, own: OwnProcesses, _ answer: () -> [UInt8]
  ) throws(SystemError) -> AnswerProcess {
    let (outlet, inlet) = try OwnProcess.pipe(purpose)
    defer { close(inlet) }
    do throws(SystemError) {
      let process = try OwnProcess.start(purpose, named: name, keeping: [inlet]) {
        send(answer(), to: inlet)
      }
      _ = fcntl(outlet, F_SETFL, O_NONBLOCK)
      own.insert(process)
      return AnswerProcess(processID: process, output: outlet, own: own)
    } catch {
      close(outlet)
      throw error
    }
  }

  /// Reads the available part of the answer; returns it once the process says no more. It is cut short if the process
  /// was killed.
  func take() -> [UInt8]? {
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(output, &piece, piece.count)
      if count > 0 {
        said += piece[..<count]
      } else if count == 0 {
        hasEnded = true
        return said
      } else if errno != EINTR {
        return nil
      }
    }
  }

  private static func send(_ answer: [UInt8], to output: Int32) {
    var rest = answer[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(output, $0.baseAddress, $0.count) }
      if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { break }
    }
  }
}
