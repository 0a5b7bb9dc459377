// `hashFiles` outside the loop: processes of oprun read the files, and decisions that wait for a
// digest are made when it is there. docs/design-execution.md, “Files that are hashed”.

import Diagnostics
import Expressions
import Glibc
import Plans
import Running
import Scheduling

extension RunLoop {
  /// Answers a question, unless a digest of files is missing: then the answer is given when that is there.
  func decide(_ operation: OperationID, _ question: Question, at time: Nanoseconds) {
    // Another answer of this turn may have settled or changed the question.
    guard machine.isOpen(question, about: operation) else { return }
    if let decision = decision(about: operation, question) {
      machine.decided(operation, decision, at: time)
    }
  }

  /// Starts requested digests; returns false if nothing changed for the machine.
  func hashFiles(at time: Nanoseconds) -> Bool {
    guard hashing.isBusy else { return false }
    if machine.stopReason != nil {
      // Operations that waited at their gates have ended.
      let left = hashing.keep {
        waitingHooks[$0] != nil || machine.question(about: $0) != nil
      }
      for slot in left { closeHashing(slot) }
    }
    var isChanged = false
    while let (slot, patterns) = hashing.takeNext() {
      do throws(SystemError) {
        let process = try HashProcess.start(patterns, own: waiting.ownProcesses)
        hashProcesses[slot] = process
        try waiting.add(process.output, for: .hashing, number: slot)
      } catch {
        isChanged = true
        finishHashing(slot, .failure(UnlocatedFailure(refusalMessage(error))), at: time)
      }
    }
    return isChanged
  }

  /// Ends the process if its answer is not complete.
  func closeHashing(_ slot: Int) {
    guard let process = hashProcesses.removeValue(forKey: slot) else { return }
    waiting.remove(process.output)
    endedHashers.append(process.processID)
    collectHashers()
  }

  /// Ends and reaps the processes, so that no zombie is left. A process that is stuck in the kernel
  /// is not waited for.
  func endHashing() {
    for slot in Array(hashProcesses.keys) { closeHashing(slot) }
    for _ in 0..<100 {
      collectHashers()
      if endedHashers.isEmpty { return }
      usleep(500)
    }
  }

  /// Reaps the ended processes. An executor with children of its own may have reaped some; their
  /// numbers may since have been reused.
  private func collectHashers() {
    endedHashers.removeAll { processID in
      guard waiting.ownProcesses.processIDs.contains(processID) else { return true }
      var status: Int32 = 0
      guard waitpid(processID, &status, WNOHANG) != 0 else { return false }
      waiting.ownProcesses.reaped(processID)
      return true
    }
  }

  func takeDigest(_ slot: Int, at time: Nanoseconds) {
    if let digest = hashProcesses[slot]?.take() { finishHashing(slot, digest, at: time) }
  }

  private func finishHashing(_ slot: Int, _ digest: FileHashing.Digest, at time: Nanoseconds) {
    closeHashing(slot)
    for operation in hashing.finish(slot, digest) {
      if resumeHook(of: operation, at: time) { continue }
      if let question = machine.question(about: operation) {
        decide(operation, question, at: time)
      }
    }
  }
}
