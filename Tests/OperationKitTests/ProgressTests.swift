// Progress by itself, as a tree, of a queue, and reported while it changes.

import OperationKit
import Testing

@Suite struct ProgressTests {
  @Test func `a part counts while it goes on and once it is done`() {
    let whole = Progress(totalUnitCount: 10)
    let part = Progress(totalUnitCount: 4)
    whole.addChild(part, withPendingUnitCount: 5)
    part.completedUnitCount = 2
    #expect(whole.fractionCompleted == 0.25 && whole.completedUnitCount == 0)
    part.completedUnitCount = 4
    #expect(whole.fractionCompleted == 0.5 && whole.completedUnitCount == 5)
    part.totalUnitCount = 8
    #expect(whole.completedUnitCount == 5, "what is done is done")
    whole.completedUnitCount += 5
    #expect(whole.isFinished && !whole.isIndeterminate && !part.isFinished)
  }

  @Test func `of nothing, nothing is known`() {
    let progress = Progress(totalUnitCount: 0)
    #expect(!progress.isFinished && progress.isIndeterminate && progress.fractionCompleted == 0)
    progress.completedUnitCount = 1
    #expect(progress.isFinished && !progress.isIndeterminate && progress.fractionCompleted == 1)
  }

  @Test func `cancelled and paused are the parts, too, and those that come later`() async {
    let whole = Progress.discreteProgress(totalUnitCount: 3)
    let early = Progress(totalUnitCount: 3, parent: whole, pendingUnitCount: 1)
    await withCheckedContinuation { called in
      early.cancellationHandler = { called.resume() }
      whole.cancel()
    }
    whole.pause()
    let late = Progress(totalUnitCount: 3, parent: whole, pendingUnitCount: 1)
    #expect([whole, early, late].allSatisfy { $0.isCancelled && $0.isPaused })
    await withCheckedContinuation { called in
      late.resumingHandler = { called.resume() }
      whole.resume()
    }
    #expect([whole, early, late].allSatisfy { !$0.isPaused })
    await withCheckedContinuation { called in late.cancellationHandler = { called.resume() } }
  }

  @Test func `a progress has one parent`() async {
    await #expect(processExitsWith: .failure) {
      let part = Progress(totalUnitCount: 1)
      let (one, other) = (Progress(totalUnitCount: 1), Progress(totalUnitCount: 1))
      one.addChild(part, withPendingUnitCount: 1)
      other.addChild(part, withPendingUnitCount: 1)
    }
  }

  @Test func `a queue is followed to its end`() async {
    let queue = OperationQueue()
    let count = 100
    queue.progress.totalUnitCount = Int64(count)
    let whole = Progress(totalUnitCount: 2)
    whole.addChild(queue.progress, withPendingUnitCount: 1)
    async let seen = fractions(of: queue.progress)
    for _ in 0..<count { queue.addOperation {} }
    let fractions = await seen
    #expect(fractions.last == 1 && fractions == fractions.sorted())
    #expect(whole.fractionCompleted == 0.5)
  }

  @Test func `who comes after the end is told of it`() async {
    let progress = Progress(totalUnitCount: 1)
    progress.completedUnitCount = 1
    #expect(await fractions(of: progress) == [1])
  }

  private func fractions(of progress: Progress) async -> [Double] {
    var seen: [Double] = []
    for await fraction in progress.fractions { seen.append(fraction) }
    return seen
  }
}
