// The mark in the environment by which a process is known as a step's, wherever it has gone:
// another process group, another session, another parent.

import Plans

/// Marks the commands of one run: `<run>/<number of the command>`. A run inside a step of another
/// run carries that step's mark in front, so the outer run knows the inner one's processes too.
struct Cookie: Hashable {
  static let variable = OprunVariable.cookie.rawValue

  /// What all commands of the run begin with, slash included.
  let prefix: String
  /// Of this run alone; fit for a file name.
  let name: String

  init(run: String, inherited: String?) {
    name = "oprun-\(run)"
    prefix = (inherited.map { $0 + ":" } ?? "") + run + "/"
  }

  /// One that is known already.
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
}
