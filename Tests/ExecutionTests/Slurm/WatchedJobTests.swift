// Jobs of runs that are over, for which steps of another run wait.

import Foundation
import Plans
import Running
import TestSupport
import Testing

@testable import Execution

@Suite(.blocking) struct `A job for which a step of another run waits` {
  private let state = TemporaryRun()
  private let own = "20260402-101502-k3"
  private let other = "20260401-101502-k3"

  private func folder(of run: String) -> String { state.path(of: "runs/\(run)") }

  @Test func `is given up while the lock of the step is held, and not when a look has ended`()
    throws
  {
    for run in [own, other] {
      try FileManager.default.createDirectory(
        atPath: folder(of: run), withIntermediateDirectories: true)
    }
    mkdir(state.path(of: "cache"), 0o700)
    let files = try NodeFiles.make(in: folder(of: other))
    let entry = JournalEntry(step: "a", digest: "d", logName: "l", outputsName: "o")
    try SlurmJournal(in: files.path).add(entry, number: 1)
    try OpenSteps(beside: folder(of: own)).note("lock", of: other, 1)
    let slurm = FakeSlurm()
    let executor = SlurmExecutor(
      SlurmParts(
        plan: SlurmPlan(), runID: own, directory: state.directory, folder: folder(of: own),
        workspace: "/", secrets: [], secretVariables: [], earlier: nil), slurm, VirtualWaiting())
    executor.watchJob(making: "lock", at: 0)
    for time in [0, 1] as [Int64] { executor.advance(to: time) }
    #expect(slurm.calls == ["0:squeue"])
    #expect(files.holder(of: 1) == .nobodyYet)
    executor.watchJob(making: "lock", at: 2)
    #expect(files.holder(of: 1) == .oprun)
    #expect(try SlurmJournal.entries(in: files.path)[1]?.hasEnded == true)
  }
}
