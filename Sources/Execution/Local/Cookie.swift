// The mark in the environment by which a process is recognised as a step's, wherever it has gone:
// another process group, another session, another parent.

import Diagnostics
import Plans

/// Marks the commands of one run: `<run>/<number of the command>`. A run inside a step of another
/// run carries that step's mark as a prefix, so the outer run recognises the processes of the inner
/// one too.
struct Cookie: Hashable {
  static let variable = OprunVariable.cookie.rawValue

  /// The prefix of all commands of the run, including the slash.
  let prefix: String
  /// The name of only this run; usable as a file name.
  let name: String

  static let namePrefix = "oprun-"

  init(run: String, inherited: String?) {
    name = Self.namePrefix + run
    prefix = (inherited.map { $0 + ":" } ?? "") + run + "/"
  }

  /// Makes a cookie from known parts.
  init(prefix: String, name: String) {
    self.prefix = prefix
    self.name = name
  }

  func value(of command: Int) -> String { prefix + String(command) }

  /// The number of the command that a process with this mark belongs to; nil if it is another
  /// run's.
  func command(in value: String) -> Int? {
    guard value.hasPrefix(prefix) else { return nil }
    return Int(value.dropFirst(prefix.count).prefix { $0 != ":" })
  }

  /// The number of the command that the process was started for.
  func command(of processID: Int32) -> Int? {
    environmentValue(of: Cookie.variable, in: processID).flatMap(command(in:))
  }

  /// The part of the environment that a process shows of its cookie.
  enum Sight {
    case command(Int)
    case nothing
    /// The process is starting a program, and shows no environment meanwhile.
    case hidden
  }

  /// Returns without waiting for anything.
  func look(at processID: Int32) -> Sight {
    switch environment(of: processID) {
    case .text(let text):
      let value = environmentValue(of: Cookie.variable, in: text)
      return value.flatMap(command(in:)).map { .command($0) } ?? .nothing
    case .none: return .nothing
    case .hidden: return .hidden
    }
  }
}
