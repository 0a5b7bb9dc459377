// Controls the width of queues that leave it to the machine: as many as there are processors, and
// more while the processors are idle because operations block.

internal import CLinux
import Glibc
internal import Processors
internal import Scheduling

enum Elasticity {
  static let processors = availableProcessorCount
  static let leastWidth = max(2, processors)
  static let largestWidth = max(64, 4 * processors)
  static let tick: UInt32 = 10_000
  /// The watch ends when no queue was crowded for this many ticks.
  static let patience = 20

  /// The processor time of this process, in microseconds.
  static var processorTime: Int {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000 + time.tv_nsec / 1000
  }
}

extension Engine {
  /// Called under the lock when an operation of the queue is about to start: the last slot may be
  /// gone.
  func watchElasticity(of queueNumber: Int) {
    if isWatching || !isCrowded(queueNumber) { return }
    isWatching = Threads.start { Engine.shared.watch() }
  }

  func resetElasticity(of queueNumber: Int) {
    let id = QueueID(queueNumber)
    if scheduler.pointee.width(of: id) > Elasticity.leastWidth {
      scheduler.pointee.setWidth(Elasticity.leastWidth, of: id)
    }
  }

  private func isCrowded(_ queueNumber: Int) -> Bool {
    scheduler.pointee.isCrowded(QueueID(queueNumber))
  }

  private func watch() {
    var quietTicks = 0
    while true {
      let before = Elasticity.processorTime
      usleep(Elasticity.tick)
      let used = Elasticity.processorTime - before
      let isIdle = used * 4 < Elasticity.processors * Int(Elasticity.tick) * 3
      enter()
      let wasCrowded = widenCrowded(isIdle)
      quietTicks = wasCrowded ? 0 : quietTicks + 1
      if quietTicks > Elasticity.patience {
        isWatching = false
        return lock.unlock()
      }
      unlockAndWake()
    }
  }

  /// Widens crowded queues. More threads help if the existing ones neither end operations nor use
  /// the processors.
  private func widenCrowded(_ isIdle: Bool) -> Bool {
    var wasCrowded = false
    for queueNumber in queues.indices where queues[queueNumber].isElastic && isCrowded(queueNumber)
    {
      wasCrowded = true
      let width = scheduler.pointee.width(of: QueueID(queueNumber))
      let isStuck = queues[queueNumber].endedCount < width
      queues[queueNumber].endedCount = 0
      guard isIdle, isStuck, width < Elasticity.largestWidth else { continue }
      let wider = min(width + max(1, width / 2), Elasticity.largestWidth)
      scheduler.pointee.setWidth(wider, of: QueueID(queueNumber))
    }
    return wasCrowded
  }
}
