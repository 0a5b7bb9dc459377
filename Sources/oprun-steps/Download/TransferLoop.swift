// The thread that drives all transfers. Other threads pass it a request and wait for its end.

import Diagnostics
import Glibc
import OperationKit
import Synchronization

/// The time limits of a transfer, in nanoseconds.
struct TransferLimits: Sendable {
  var stall: Int64 = 30_000_000_000
  var total: Int64 = 3_600_000_000_000
}

/// How a transfer ended.
enum TransferEnd: Sendable {
  /// The transfer ended; `redirectTarget` is set for responses that lead elsewhere.
  case ended(TransferResult, redirectTarget: String?)
  case stalled
  case tookTooLong
  case noMemory
}

/// Owns the connections, which are kept for further requests to the same host.
final class TransferLoop: Sendable {
  private final class Job: Sendable {
    let transfer: Transfer
    let receiver: CountingReceiver
    let limits: TransferLimits
    let started = monotonicTime()
    let end = Guarded<TransferEnd?>(nil)
    let signal = Signal()

    init(_ transfer: Transfer, _ receiver: CountingReceiver, _ limits: TransferLimits) {
      self.transfer = transfer
      self.receiver = receiver
      self.limits = limits
    }

    func finish(_ how: TransferEnd) {
      end.withLock { $0 = how }
      signal.send()
    }
  }

  private let transfers: TransferSet
  private let arrivals = Guarded<[Job]>([])

  /// Makes a loop; nil if there is no memory or no thread.
  init?(keeping connectionCount: Int) {
    guard let transfers = TransferSet(keeping: connectionCount) else { return nil }
    self.transfers = transfers
    guard Threads.start({ [self] in drive() }) else { return nil }
  }

  /// Makes the request and waits until it has ended. Must not be called on the loop's own thread.
  func perform(
    _ request: TransferRequest, _ limits: TransferLimits, to receiver: any TransferReceiver
  ) -> TransferEnd {
    let counting = CountingReceiver(receiver)
    guard let transfer = Transfer(request, to: counting) else { return .noMemory }
    let job = Job(transfer, counting, limits)
    arrivals.withLock { $0.append(job) }
    transfers.wakeUp()
    job.signal.wait()
    return job.end.withLock { $0 } ?? .noMemory
  }

  /// The main function of the thread, which lives as long as the program.
  private func drive() -> Never {
    var running: [ObjectIdentifier: Job] = [:]
    while true {
      for job in takeArrivals() {
        running[ObjectIdentifier(job.transfer)] = job
        transfers.add(job.transfer)
      }
      for (transfer, result) in transfers.advance() {
        guard let job = running.removeValue(forKey: ObjectIdentifier(transfer)) else { continue }
        job.finish(.ended(result, redirectTarget: transfer.redirectTarget))
      }
      for (id, job) in running {
        guard let end = overdue(job, now: monotonicTime()) else { continue }
        transfers.remove(job.transfer)
        running[id] = nil
        job.finish(end)
      }
      transfers.wait(milliseconds: running.isEmpty ? 60_000 : 50)
    }
  }

  private func takeArrivals() -> [Job] {
    arrivals.withLock { jobs in
      defer { jobs = [] }
      return jobs
    }
  }

  private func overdue(_ job: Job, now: Int64) -> TransferEnd? {
    if now - job.started > job.limits.total { return .tookTooLong }
    let latest = max(job.started, job.receiver.latest.load(ordering: .relaxed))
    return now - latest > job.limits.stall ? .stalled : nil
  }
}

/// Records when something was received last. libcurl's own limit is an average over seconds, which
/// a burst hides.
private final class CountingReceiver: TransferReceiver {
  let latest = Atomic<Int64>(0)
  private let received = Atomic<Int>(0)
  private let receiver: any TransferReceiver

  init(_ receiver: any TransferReceiver) { self.receiver = receiver }

  func take(headerLine: UnsafeRawBufferPointer) -> Bool {
    latest.store(monotonicTime(), ordering: .relaxed)
    return receiver.take(headerLine: headerLine)
  }

  func take(body: UnsafeRawBufferPointer) -> Bool { receiver.take(body: body) }

  func mayConnect(to endpoint: Endpoint) -> Bool {
    latest.store(monotonicTime(), ordering: .relaxed)
    return receiver.mayConnect(to: endpoint)
  }

  func hasReceived(_ byteCount: Int) -> Bool {
    if byteCount > received.exchange(byteCount, ordering: .relaxed) {
      latest.store(monotonicTime(), ordering: .relaxed)
    }
    return receiver.hasReceived(byteCount)
  }
}

/// The time in seconds since 1970.
func calendarTime() -> Int { Int(wallTime() / 1_000_000_000) }
