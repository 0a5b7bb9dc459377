// The end of a run while results are still being stored in the shared cache, in virtual time.

import Caching
import Foundation
import Pipelines
import Plans
import RunFiles
import Scheduling
import TestSupport
import Testing

@testable import Execution

@Suite(.blocking) struct `The end of a run whose uploads do not end` {
  /// What is said, with the second in which it is, and when the run is over.
  private func messages(signals: [(second: Nanoseconds, signal: Int32)] = []) throws -> [String] {
    let folder = TemporaryRun()
    let path = folder.directory.path
    let state = StateFolder(owning: open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), path: path)
    let cache = StepCache(try CacheFolder.make(in: state), CacheOptions())
    let loaded = LoadedPipeline(
      path: "p.yml", bytes: Array("steps: [{id: a, run: 0@3}]".utf8), files: .system)
    let waiting = VirtualWaiting(signals: signals)
    var options = RunOptions(runID: "r1", directory: folder.directory)
    options.cache = cache
    var messages: [String] = []
    options.tellAtOnce = { messages.append("\(waiting.now / second): \($0)") }
    let loop = RunLoop(
      try loaded.plan(PlanningOptions()), options,
      RunParts(
        waiting: waiting, executor: LateExecutor(folder.directory), workspace: "/work", seed: 1),
      observers: [])
    // A process stores it, and does not answer.
    loop.caching?.jobs.add(
      .store(CacheDigest(of: "a"), outputs: [], replacing: false), for: .sharing(OperationID(0)))
    _ = loop.caching?.jobs.takeNext()
    _ = loop.run()
    return messages + ["\(waiting.now / second): over"] + cache.lateNotices
  }

  @Test func `says after a second what it waits for`() throws {
    #expect(
      try messages() == [
        "4: waiting for uploads to the shared cache", "63: over",
        "not all results could be stored in the shared cache",
      ])
  }

  @Test func `comes with a signal`() throws {
    #expect(
      try messages(signals: [(5, 15)]) == [
        "4: waiting for uploads to the shared cache", "5: over",
        "not all results could be stored in the shared cache",
      ])
  }
}
