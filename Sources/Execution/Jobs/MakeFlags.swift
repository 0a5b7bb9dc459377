// The variable MAKEFLAGS, as far as it is about jobs. It reads and writes text and opens nothing.

import Diagnostics

/// The address of a jobserver, as a tool is told.
enum JobserverAddress: Hashable, Sendable {
  /// The descriptors of a pipe, which only a process that has inherited them can use.
  case pipe(read: Int32, write: Int32)
  /// The path of a named pipe: GNU make 4.4 and later.
  case fifo(String)
}

/// The value of MAKEFLAGS. Its words are separated by spaces; those after `--` are variables, in
/// which a backslash precedes each space.
struct MakeFlags: Hashable, Sendable {
  private let words: [String]

  init(_ text: String) { words = MakeFlags.words(of: text) }

  /// True if the flags name a jobserver, even one that cannot be used.
  var namesJobserver: Bool { flags.contains { $0.hasPrefix("--jobserver-") } }

  /// The jobserver; nil if there is none, or none that this process could use. The last one that is
  /// named wins, as for make and ninja.
  var jobserver: JobserverAddress? {
    let values = flags.compactMap { word in
      MakeFlags.addressOptions.first { word.hasPrefix($0) }.map { word.dropFirst($0.utf8.count) }
    }
    guard let last = values.last else { return nil }
    if last.hasPrefix("fifo:") { return .fifo(String(last.dropFirst(5))) }
    let numbers = last.split(separator: ",", omittingEmptySubsequences: false).map { Int32($0) }
    guard numbers.count == 2, let read = numbers[0], let write = numbers[1] else { return nil }
    // Make replaces the numbers by negative ones for a recipe that may not use the pipe.
    return read > 2 && write > 2 ? .pipe(read: read, write: write) : nil
  }

  /// The number of jobs, N of `-jN`; nil if there is none.
  var jobs: Int? {
    flags.last { MakeFlags.isJobs($0) && $0.utf8.count > 2 }
      .flatMap { Int($0.hasPrefix("--jobs=") ? $0.dropFirst(7) : $0.dropFirst(2)) }
  }

  /// The flags without the number of jobs and without a jobserver.
  var withoutJobs: String { joined([]) }

  /// The flags with another jobserver.
  ///
  /// Tools differ in what they accept. GNU make before 4.4 stops at an address that is a path, and
  /// takes the last address, also of an option whose name is cut. ninja accepts only a path; it,
  /// cargo and GCC from 13 on take the last address of an option whose name is whole. GCC before 13
  /// takes the first, and knows no path.
  func sharing(_ jobs: Int?, read: Int32, write: Int32, path: String?) -> String {
    var added = jobs.map { ["-j\($0)"] } ?? []
    added.append("--jobserver-auth=\(read),\(write)")
    if let path {
      added += ["--jobserver-auth=fifo:\(path)", "--jobserver-aut=\(read),\(write)"]
    }
    return joined(added)
  }

  /// True if a path can be in MAKEFLAGS: no tool expects quotes.
  static func canHold(_ path: String) -> Bool {
    path.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "/._-+@:~".utf8.contains(byte)
      }
    }
  }

  private static let addressOptions = ["--jobserver-auth=", "--jobserver-fds="]

  /// The words before the variables.
  private var flags: ArraySlice<String> { words.prefix { $0 != "--" } }

  private func joined(_ added: [String]) -> String {
    let kept = flags.filter { !MakeFlags.isJobs($0) && !$0.hasPrefix("--jobserver-") }
    return (kept + added + words.dropFirst(flags.count)).joined(separator: " ")
  }

  private static func isJobs(_ word: String) -> Bool {
    if word.hasPrefix("--") { return word == "--jobs" || word.hasPrefix("--jobs=") }
    return word.hasPrefix("-j") && word.utf8.dropFirst(2).allSatisfy { (48...57).contains($0) }
  }

  private static func words(of text: String) -> [String] {
    var words: [String] = []
    var word = ""
    var isEscaped = false
    for scalar in text.unicodeScalars {
      if scalar == " " || scalar == "\t", !isEscaped {
        if !word.isEmpty { words.append(word) }
        word = ""
      } else {
        word.unicodeScalars.append(scalar)
      }
      isEscaped = scalar == "\\" && !isEscaped
    }
    return word.isEmpty ? words : words + [word]
  }
}
