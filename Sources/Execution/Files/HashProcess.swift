// A process of oprun that hashes files and returns the digest through a pipe, so that the loop
// continues. docs/design-execution.md, “Files that are hashed”.

import Diagnostics
import Expressions
import Glibc
import Processes

/// One computation of a digest. It is complete when the pipe ends.
final class HashProcess {
  let processID: Int32
  /// The answer of the process comes from here; close-on-exec, and never waited for.
  let output: Int32
  private let own: OwnProcesses
  private var said: [UInt8] = []
  private(set) var hasEnded = false

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

  /// The process is one of `own`.
  static func start(
    _ patterns: [String], own: OwnProcesses
  ) throws(SystemError) -> HashProcess {
    let purpose = "hash files"
    let (outlet, inlet) = try OwnProcess.pipe(purpose)
    defer { close(inlet) }
    do throws(SystemError) {
      let process = try OwnProcess.start(purpose, named: "oprun-hash", keeping: [inlet]) {
        answer(patterns, to: inlet)
      }
      _ = fcntl(outlet, F_SETFL, O_NONBLOCK)
      own.insert(process)
      return HashProcess(processID: process, output: outlet, own: own)
    } catch {
      close(outlet)
      throw error
    }
  }

  /// Reads the available part of the answer; returns the digest, or why there is none, once it is
  /// complete.
  func take() -> Result<String, UnlocatedFailure>? {
    var piece = [UInt8](repeating: 0, count: 1 << 12)
    while true {
      let count = read(output, &piece, piece.count)
      if count > 0 {
        said += piece[..<count]
      } else if count == 0 {
        hasEnded = true
        return result
      } else if errno != EINTR {
        return nil
      }
    }
  }

  private var result: Result<String, UnlocatedFailure> {
    let words = String(decoding: said.dropFirst(), as: UTF8.self)
    switch said.first {
    case Answer.digest.rawValue: return .success(words)
    case Answer.fault.rawValue: return .failure(UnlocatedFailure(words))
    default:
      return .failure(UnlocatedFailure("cannot hash files: the process that read them was killed"))
    }
  }

  /// The first byte of the answer.
  private enum Answer: UInt8 {
    case digest, fault
  }

  /// Runs in the new process, which only reads files.
  private static func answer(_ patterns: [String], to output: Int32) {
    var text: [UInt8]
    do throws(UnlocatedFailure) {
      text = [Answer.digest.rawValue] + Array(try FileHashes.hash(of: patterns).utf8)
    } catch {
      text = [Answer.fault.rawValue] + Array(error.message.utf8)
    }
    while !text.isEmpty {
      let count = write(output, text, text.count)
      if count > 0 { text.removeFirst(count) } else if errno != EINTR { break }
    }
  }
}
