// Ends all processes that a dead oprun has left, recognised only by their marks.

import Glibc

/// The marks that identify the processes of one run.
struct Sweep {
  let cookie: Cookie
  let mark: DescentMark?
  /// The directory of the run's control group.
  let controlGroup: String?
  /// The directory in which commands leave outputs, none of which may stay in a run with secrets.
  let outputFolder: String?

  /// The strings from which another process makes the same sweep.
  var texts: [String] {
    [
      cookie.prefix, cookie.name, mark.map { String($0.value) } ?? "", controlGroup ?? "",
      outputFolder ?? "",
    ]
  }

  private struct Victim: Hashable {
    let processID: Int32
    let startTicks: UInt64
  }

  /// The limit of rounds without anything new: some 30 s, for processes that the kernel holds (a dead network disk).
  private static let patience = 300

  init(cookie: Cookie, mark: DescentMark?, controlGroup: String?, outputFolder: String?) {
    self.cookie = cookie
    self.mark = mark
    self.controlGroup = controlGroup
    self.outputFolder = outputFolder
  }

  /// Makes a sweep from `texts`; nil if they are something else.
  init?(_ texts: [String]) {
    guard texts.count == 5 else { return nil }
    cookie = Cookie(prefix: texts[0], name: texts[1])
    mark = UInt64(texts[2]).map { DescentMark(value: $0) }
    controlGroup = texts[3].isEmpty ? nil : texts[3]
    outputFolder = texts[4].isEmpty ? nil : texts[4]
  }

  /// Ends everything that carries the run's marks or belongs to the group or session of a command.
  /// Processes that cannot be signalled are left.
  func run(sparing guardians: [Int32], groups: Set<Int32>) {
    if let controlGroup { ControlGroup.endAll(at: controlGroup) }
    var killed: Set<Victim> = []
    var quietRounds = 0
    var idleRounds = 0
    var newest = NewestProcesses()
    /// Ends those of the processes that belong to the run; false if none does.
    func end(_ processes: [Int32]) -> Bool {
      var hasFound = false
      for process in processes where !guardians.contains(process) {
        guard let status = leftover(process, groups), kill(process, SIGKILL) == 0 else { continue }
        hasFound = true
        killed.insert(Victim(processID: process, startTicks: status.startTicks))
      }
      return hasFound
    }
    // A process that forks while the list is read can be missed once, not twice. A process that
    // forks and ends, again and again, is never where it was when the list was read: but new
    // processes can be found without the list.
    while quietRounds < 2, idleRounds < Sweep.patience {
      let count = killed.count
      var hasFound = end(ProcessStatus.all())
      newest.watch { if end($0) { hasFound = true } }
      let isQuiet = !hasFound
      quietRounds = isQuiet ? quietRounds + 1 : 0
      idleRounds = killed.count == count ? idleRounds + 1 : 0
      if !isQuiet { usleep(idleRounds < 7 ? 1000 << UInt32(idleRounds) : 100_000) }
    }
    if let controlGroup { remove(controlGroup) }
    if let outputFolder { OutputFiles.removeAll(in: outputFolder) }
  }

  /// Removes the group: a killed process may take a moment to leave it.
  private func remove(_ controlGroup: String) {
    for _ in 0..<100 where !ControlGroup.remove(controlGroup) { usleep(10_000) }
  }

  private func leftover(_ processID: Int32, _ groups: Set<Int32>) -> ProcessStatus? {
    guard processID != getpid(), let status = ProcessStatus(of: processID), !status.isZombie
    else { return nil }
    let isOurs =
      groups.contains(status.groupID) || groups.contains(status.sessionID)
      || mark?.isCarried(by: status) == true || cookie.command(of: processID) != nil
    return isOurs ? status : nil
  }
}
