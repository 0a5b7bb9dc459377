// What may depend on time without depending on what else the machine has to do.

import Glibc

/// Whether something succeeds at one of several attempts. It is for what needs a machine that is fast enough for a
/// moment: one that is slow makes things take longer, and nothing makes them shorter, so that once is enough.
package func once(of attempts: Int = 20, _ attempt: () throws -> Bool) rethrows -> Bool {
  for _ in 0..<attempts where try attempt() { return true }
  return false
}

/// The same with ever longer time limits, as texts for a command line: the first is enough on a usual machine.
package func once(
  within limits: [String] = ["400ms", "4s", "40s", "400s"],
  _ attempt: (_ limit: String) throws -> Bool
) rethrows -> Bool {
  for limit in limits where try attempt(limit) { return true }
  return false
}

/// The processor time that something takes on its thread, in seconds. Other programs do not make it longer, as they do
/// with the time of the clock.
package func processorTime<Failure: Error>(_ body: () throws(Failure) -> Void) throws(Failure)
  -> Double
{
  let start = threadTime()
  try body()
  return threadTime() - start
}

private func threadTime() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
