// Hashes files in a process of oprun, so that the loop continues. docs/design-execution.md, “Files that are hashed”.

import Diagnostics
import Expressions

/// One computation of a digest.
struct HashProcess {
  private let process: AnswerProcess
  var processID: Int32 { process.processID }
  var output: Int32 { process.output }

  /// The process is one of `own`.
  static func start(
    _ patterns: [String], own: OwnProcesses
  ) throws(SystemError) -> HashProcess {
    HashProcess(
      process: try AnswerProcess.start("hash files", named: "oprun-hash", own: own) {
        answer(patterns)
      })
  }

  /// The digest, or why there is none; nil until that is known.
  func take() -> Result<String, UnlocatedFailure>? {
    guard let said = process.take() else { return nil }
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

  private static func answer(_ patterns: [String]) -> [UInt8] {
    do throws(UnlocatedFailure) {
      return [Answer.digest.rawValue] + Array(try FileHashes.hash(of: patterns).utf8)
    } catch {
      return [Answer.fault.rawValue] + Array(error.message.utf8)
    }
  }
}
