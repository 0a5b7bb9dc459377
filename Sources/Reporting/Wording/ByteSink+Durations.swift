// Writes durations: measured ones rounded, configured ones exact.

import Plans
package import Scheduling

extension ByteSink {
  /// Writes a measured time, rounded for people: `12ms`, `3.4s`, `2m05s`, `1h02m`.
  package func write(elapsed time: Nanoseconds) {
    let milliseconds = Int((max(0, time) + 500_000) / 1_000_000)
    switch milliseconds {
    case 0:
      write(time > 0 ? "1ms" : "0s")
    case ..<95:
      write(decimal: milliseconds)
      write("ms")
    case ..<59_950:
      writeTenths((milliseconds + 50) / 100)
    default:
      writeClock((milliseconds + 500) / 1000)
    }
  }

  private func writeTenths(_ tenths: Int) {
    write(decimal: tenths / 10)
    write(UInt8(ascii: "."))
    write(decimal: tenths % 10)
    write(UInt8(ascii: "s"))
  }

  private func writeClock(_ seconds: Int) {
    if seconds < 3600 {
      write(decimal: seconds / 60)
      write(UInt8(ascii: "m"))
      writeTwoDigits(seconds % 60)
      write(UInt8(ascii: "s"))
    } else {
      write(decimal: seconds / 3600)
      write(UInt8(ascii: "h"))
      writeTwoDigits(seconds / 60 % 60)
      write(UInt8(ascii: "m"))
    }
  }

  private func writeTwoDigits(_ number: Int) {
    if number < 10 { write(UInt8(ascii: "0")) }
    write(decimal: number)
  }

  /// Writes a configured time, as it would be written in the file: `250ms`, `30s`, `1h30m`.
  package func write(exact time: Nanoseconds) { write(exactDuration(time)) }
}

/// A measured time, rounded for people: `12ms`, `3.4s`.
package func elapsedText(_ time: Nanoseconds) -> String {
  let sink = ByteSink.intoMemory()
  sink.write(elapsed: time)
  return sink.text
}

extension ByteSink {
  /// Writes seconds as `decimalSeconds` has them.
  func write(decimalSeconds time: Nanoseconds) {
    let milliseconds = Int((time + 500_000) / 1_000_000)
    write(decimal: milliseconds / 1000)
    let rest = milliseconds % 1000
    write(rest < 10 ? ".00" : rest < 100 ? ".0" : ".")
    write(decimal: rest)
  }
}

/// Seconds with three decimal places, for programs: `3.417`.
func decimalSeconds(_ time: Nanoseconds) -> String {
  let milliseconds = (time + 500_000) / 1_000_000
  return "\(milliseconds / 1000).\(String(1000 + milliseconds % 1000).dropFirst())"
}
