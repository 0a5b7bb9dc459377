// The peak memory of a command, where Linux can tell.

import Diagnostics
import Glibc
import Processors

/// A process starts in our memory (`clinux_launch`), and Linux carries our peak over into its
/// program. So a figure that is not above our own says nothing about the command.
struct PeakMemory {
  /// Linux counts pages for each processor and adds them up only now and then.
  private static let inaccuracy = 1 << 20

  /// Our own peak in bytes, as far as it was needed. It only grows.
  private var own = 0

  /// Reads how much memory we have. Called while something runs and there is nothing else to do, so
  /// that the first command that ends need not wait for it.
  mutating func look() { if own == 0 { own = Self.readCurrent() ?? 0 } }

  /// The largest resident set of any process of a command that has ended, in bytes; nil if it is not known.
  mutating func ofCommand(_ usage: rusage) -> Int64? {
    let peak = usage.ru_maxrss << 10
    func isAbove() -> Bool { peak > own + Self.inaccuracy }
    // The present size is read in a tenth of the time, and nearly always enough.
    if isAbove() { own = max(own, Self.readCurrent() ?? 0) }
    if isAbove() { own = Self.readOwn() ?? peak }
    return isAbove() ? Int64(peak) : nil
  }

  private static func readCurrent() -> Int? {
    guard let text = readSmallFile("/proc/self/statm") else { return nil }
    let numbers = ProcessStatus.numbers(in: text)
    return numbers.count > 1 ? Int(numbers[1]) * Int(getpagesize()) : nil
  }

  /// Reads /proc instead of calling getrusage, which counts what started oprun, too.
  private static func readOwn() -> Int? {
    guard let text = readSmallFile("/proc/self/status") else { return nil }
    for line in text.split(separator: UInt8(ascii: "\n")) where line.starts(with: "VmHWM:".utf8) {
      return ProcessStatus.numbers(in: line).first.map { Int($0) << 10 }
    }
    return nil
  }
}
