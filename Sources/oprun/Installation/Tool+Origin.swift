// `oprun --version --verbose`: the sources and libraries of the program.

import CLinux
import Diagnostics
import Glibc
import Pipelines
import Plans
import Reporting
import RunFiles
import State

extension Tool {
  func writeOrigin() {
    let libraries = [
      ("glibc", String(cString: clinux_c_library_version())), ("libyaml", parserVersion),
      ("OpenSSL", hashingVersion), ("PCRE2", Self.number(in: patternVersion)),
      ("SQLite", databaseVersion),
    ]
    let rows =
      [
        ("commit", commit), ("date", date), ("Swift", swiftVersion),
        ("system", hostFacts().architecture),
      ]
      + libraries
    output.write("oprun \(version)\n")
    for (name, value) in rows where !value.isEmpty {
      output.write("  \(name)\(String(repeating: " ", count: 8 - name.utf8.count))  \(value)\n")
    }
  }

  /// The version in a text such as `10.42 2022-12-11`.
  private static func number(in text: String) -> String { String(text.prefix { $0 != " " }) }

  private var commit: String {
    let parts = (0..<5).map { hexadecimal(clinux_build_value($0), digits: 8) }
    guard parts.contains(where: { $0 != "00000000" }) else { return "unknown" }
    return parts.joined() + (clinux_build_value(6) == 1 ? ", with changes" : "")
  }

  /// The day of the commit, in UTC.
  private var date: String {
    let seconds = clinux_build_value(5)
    guard seconds > 0 else { return "" }
    var time = Int(seconds)
    var parts = tm()
    gmtime_r(&time, &parts)
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
  }

  /// The version of Swift, which is one byte for each of three numbers.
  private var swiftVersion: String {
    let value = clinux_build_value(7)
    guard value > 0 else { return "" }
    let numbers = [value >> 16 & 0xFF, value >> 8 & 0xFF, value & 0xFF].map { String($0) }
    return (numbers[2] == "0" ? numbers.dropLast() : numbers).joined(separator: ".")
  }
}
