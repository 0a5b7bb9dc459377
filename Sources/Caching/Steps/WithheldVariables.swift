// Variables that a script uses, that oprun has, and that a cached step does not get: who does not know that wonders why
// they are empty. Only advice depends on it: it knows quotes, comments and assignments, and nothing else about shells.

import Diagnostics
import Plans

extension StepCache {
  /// The variables that a step uses in its script and does not get, though oprun has them.
  func withheld(from step: ReadyStep, _ action: Action, _ settings: CacheSettings) -> [String] {
    guard case .script(let text) = action, UsedVariables.knows(step.settings.shell) else {
      return []
    }
    var names: [String] = []
    _ = text.withUTF8 { script in
      names = UsedVariables(in: UnsafeRawBufferPointer(script)).names
      return true
    }
    if names.isEmpty { return [] }
    let given = Set(step.settings.environment.map(\.name)).union(settings.environment)
      .union(CachedVariables.passed)
    return names.filter {
      options.environment[$0]?.isEmpty == false && !given.contains($0) && !$0.hasPrefix("OPRUN")
    }
  }
}

/// The variables that a script uses and does not set.
struct UsedVariables {
  /// Each once, in the order in which they are used.
  private(set) var names: [String] = []
  private let script: UnsafeRawBufferPointer
  private var index = 0
  private var quote: UInt8?
  private var set: Set<String> = []
  /// True in a line with a command that sets the variables which it names.
  private var isSetting = false
  /// True if it reads another script, which may set any.
  private var readsOther = false

  private static let setting: Set<String> = [
    "read", "for", "select", "getopts", "local", "declare", "typeset", "mapfile", "readarray",
    "unset",
  ]
  /// The variables that shells set by themselves, and those that oprun may set.
  private static let ofShells: Set<String> = [
    "PWD", "OLDPWD", "PPID", "IFS", "OPTIND", "OPTARG", "SHLVL", "HOSTNAME", "HOSTTYPE", "OSTYPE",
    "MACHTYPE", "UID", "EUID", "RANDOM", "LINENO", "SECONDS", "COLUMNS", "LINES", "MAKEFLAGS",
  ]
  private static let shells: Set<Substring> = ["sh", "dash", "bash", "ksh", "zsh"]

  /// Whether a program reads scripts of the kind that is known here.
  static func knows(_ shell: [String]) -> Bool {
    shell.first?.split(separator: "/").last.map { shells.contains($0) } == true
  }

  init(in script: UnsafeRawBufferPointer) {
    self.script = script
    guard script.contains(UInt8(ascii: "$")) else { return }
    var used: [String] = []
    while index < script.count {
      if let name = takeReference() { used.append(name) }
    }
    if readsOther { return }
    var known = set.union(Self.ofShells)
    names = used.filter { !$0.hasPrefix("BASH") && known.insert($0).inserted }
  }

  /// Goes on to the next byte, or over a word; the name of a variable if one is used there.
  private mutating func takeReference() -> String? {
    let byte = script[index]
    let isFirst = index == 0 || Self.endsWord(script[index - 1])
    index += 1
    switch byte {
    case UInt8(ascii: "\\") where quote != UInt8(ascii: "'"): index += 1
    case UInt8(ascii: "'"), UInt8(ascii: "\""):
      if quote == nil { quote = byte } else if quote == byte { quote = nil }
    case UInt8(ascii: "$") where quote != UInt8(ascii: "'"):
      if at(index) == UInt8(ascii: "{") { index += 1 }
      return takeName()
    case _ where quote != nil: break
    case UInt8(ascii: "\n"), UInt8(ascii: ";"): isSetting = false
    case UInt8(ascii: "#") where isFirst:
      while let next = at(index), next != UInt8(ascii: "\n") { index += 1 }
    case UInt8(ascii: ".") where isFirst && at(index) == UInt8(ascii: " "): readsOther = true
    case _ where isFirst:
      index -= 1
      if let word = takeName() { hear(word) } else { index += 1 }
    default: break
    }
    return nil
  }

  private mutating func hear(_ word: String) {
    let isAssigned =
      at(index) == UInt8(ascii: "=")
      || at(index) == UInt8(ascii: "+") && at(index + 1) == UInt8(ascii: "=")
    if isSetting || isAssigned { set.insert(word) }
    if Self.setting.contains(word) { isSetting = true }
    if word == "source" { readsOther = true }
  }

  /// Nil for what does not begin like a name.
  private mutating func takeName() -> String? {
    guard let first = at(index), Self.isNamed(first), !(48...57).contains(first) else { return nil }
    let start = index
    while let byte = at(index), Self.isNamed(byte) { index += 1 }
    return String(decoding: script[start..<index], as: UTF8.self)
  }

  private func at(_ place: Int) -> UInt8? { place < script.count ? script[place] : nil }

  private static func endsWord(_ byte: UInt8) -> Bool { " \t\n;&|(`".utf8.contains(byte) }

  private static func isNamed(_ byte: UInt8) -> Bool {
    switch byte {
    case 48...57, 65...90, 97...122, UInt8(ascii: "_"): true
    default: false
    }
  }
}
