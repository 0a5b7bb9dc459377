// Steps that wait for another run which has them: when they are looked at again, and when that is said.

import Caching
import Foundation
import RunFiles
import Scheduling
import TestSupport
import Testing

@testable import Execution

@Suite(.blocking) struct `A step that another run has` {
  private let folder = TemporaryRun()
  private let cache: RunCache
  private let second: Nanoseconds = 1_000_000_000

  init() throws {
    let path = folder.directory.path
    let state = StateFolder(owning: open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), path: path)
    cache = RunCache(
      StepCache(try CacheFolder.make(in: state), CacheOptions()), processorCount: 1)
  }

  @Test func `is looked at again after a moment, at its gate or when it could start`() {
    let asked = OperationID(1)
    let deferred = OperationID(2)
    cache.awaitLock(of: asked, at: second)
    cache.deferStart(of: deferred, at: second)
    #expect(cache.isAwaited(by: asked) && !cache.isAwaited(by: deferred))
    #expect(cache.deadline == second + 50_000_000)
    #expect(cache.takeLocked(at: second + 49_999_999) == nil)
    let waiting = cache.takeLocked(at: second + 50_000_000)
    #expect(waiting?.asked == [asked] && waiting?.deferred == [deferred] && waiting?.long == [])
    #expect(!cache.isAwaited(by: asked) && cache.deadline == nil)
  }

  @Test func `has waited for long after ten seconds`() {
    let step = OperationID(1)
    cache.deferStart(of: step, at: second)
    #expect(cache.takeLocked(at: 2 * second)?.long == [])
    cache.deferStart(of: step, at: 2 * second)
    #expect(cache.takeLocked(at: 11 * second)?.long == [step])
  }
}
