// Durations and sizes as they are written everywhere: one table of good ones and one of bad ones each.

import BuiltinSteps
import Testing

struct DurationsAndSizesTests {
  @Test(
    arguments: [
      ("0s", 0), ("0ms", 0), ("1ms", 1_000_000), ("250ms", 250_000_000), ("5s", 5_000_000_000),
      ("90s", 90_000_000_000), ("007s", 7_000_000_000), ("1m30s", 90_000_000_000),
      ("2m5s", 125_000_000_000), ("1s250ms", 1_250_000_000), ("1m1ms", 60_001_000_000),
      ("1h30m", 5_400_000_000_000), ("7d", 604_800_000_000_000),
      ("1d2h3m4s5ms", 93_784_005_000_000), ("0d0h0m0s0ms", 0),
      ("10000d", longestTime), ("864000000000ms", longestTime),
      ("9999d23h59m59s1000ms", longestTime),
    ] as [(String, Int64)])
  func `durations add up`(_ text: String, _ duration: Int64) {
    #expect(nanoseconds(text) == duration)
    #expect(Array(text.utf8).withUnsafeBufferPointer { nanoseconds($0) } == duration)
  }

  @Test(arguments: [
    "", " ", "s", "ms", "5", "0", "30 s", " 30s", "30s ", "+3s", "-3s", "1.5s", "1,5s", "1e3s",
    "5S",
    "5MS", "5mS", "3x", "5sec", "5min", "5us", "5ns", "1w", "1m2h", "1s1s", "1ms1s", "1s1d",
    "1h 30m",
    "1h30", "1h-30m", "1hm", "1hh", "٣s", "5ｓ", "5s\n", "5s\0", "0x5s",
    "10000d1ms", "864000000001ms", "106751d", "106752d", "106751d23h47m16s855ms",
    "9999999999999h", "9223372036854775808ms", "99999999999999999999999999s",
  ])
  func `what is no duration is refused`(_ text: String) {
    #expect(nanoseconds(text) == nil)
  }

  @Test(
    arguments: [
      ("0K", 0), ("1K", 1024), ("512K", 524_288), ("2M", 2_097_152), ("1G", 1_073_741_824),
      ("1T", 1_099_511_627_776), ("0064K", 65_536), ("1000000T", largestSize),
      ("1073741824000000K", largestSize),
    ])
  func `sizes are powers of 1024`(_ text: String, _ size: Int) {
    #expect(byteCount(text) == size)
    #expect(Array(text.utf8).withUnsafeBufferPointer { byteCount($0) } == size)
  }

  @Test(arguments: [
    "", "K", "1", "1024", "1k", "1m", "1g", "1B", "1KB", "1MB", "1KiB", "1P", "1 K", " 1K", "1K ",
    "+1K",
    "-1K", "-0K", "1.5G", "1G1M", "1KK", "٣K", "0x1K", "1000001T", "1073741824000001K",
    "8388608T", "9007199254740992K",
    "99999999999999999999K",
  ])
  func `what is no size is refused`(_ text: String) {
    #expect(byteCount(text) == nil)
  }

  @Test(
    arguments: [
      ("10000d", nil), ("1000000T", nil), ("30", nil), ("", nil), ("99999x", nil),
      ("1s99999d", nil), ("10000d1ms", "the longest duration is 10000d"),
      ("99999999999999999999999h1ms", "the longest duration is 10000d"),
      ("1000001T", "the largest size is 1000000T"),
      ("99999999999999999999999K", "the largest size is 1000000T"),
    ] as [(String, String?)])
  func `only what is well written can exceed a limit`(_ text: String, _ words: String?) {
    #expect(exceededLimit(text) == words)
  }
}
