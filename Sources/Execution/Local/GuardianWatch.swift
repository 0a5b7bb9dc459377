// The work of a guardian: it waits for the end of oprun and for that of its partner.

import CLinux
import Diagnostics
import Glibc

/// Does the work of a guardian once it has a program. Returns only if the words of the command line
/// are not those of a guardian.
package func watchAsGuardian(_ commandLine: [UnsafePointer<CChar>]) {
  let words = commandLine.map { String(cString: $0) }
  guard words.count == 3, words[0] == guardianName, let lifeline = Int32(words[1]),
    let file = Int32(words[2]), let page = GuardianPage(in: file), let sweep = Sweep(page.texts)
  else { return }
  close(file)
  GuardianWatch(lifeline: lifeline, page: page, sweep: sweep).begin()
}

/// One of two guardians, in its own process. A pair of sockets tells each of the other's end.
private struct GuardianWatch {
  let lifeline: Int32
  let page: GuardianPage
  let sweep: Sweep
  private var seat = 0
  /// Our end of the socket pair; −1 without a partner.
  private var partner: Int32 = -1
  /// The time before a partner is started, in milliseconds.
  private var delay: Int32 = 0

  /// A descriptor that is readable once oprun has ended; −1 if the kernel does not support it. A
  /// step of the same user can keep the lifeline open, so that it never ends.
  private let oprun: Int32

  /// The time in milliseconds from the end of oprun to that of the lifeline.
  private static let lifelineDelay: Int32 = 200

  /// The time between attempts when the machine refuses a process.
  private static let nextAttempt: Int32 = 1000

  init(lifeline: Int32, page: GuardianPage, sweep: Sweep) {
    self.lifeline = lifeline
    oprun = clinux_open_process(page.owner)
    self.page = page
    self.sweep = sweep
  }

  consuming func begin() -> Never {
    clinux_set_name(guardianName)
    if sweep.outputFolder != nil { closeMemory() }
    for descriptor in [lifeline, oprun] where descriptor >= 0 {
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }
    var watch = self
    watch.page.take(seat: 0, by: getpid())
    watch.page.isWatched = true
    // Its number may since have been reused.
    if getppid() != watch.page.owner { watch.awaitLifeline() }
    if let group = watch.sweep.controlGroup, let slash = group.lastIndex(of: "/") {
      ControlGroup.removeUnused(in: String(group[..<slash]))
    }
    watch.wait()
  }

  /// Called when oprun is gone; its children that have no program yet will be gone in a moment.
  private func awaitLifeline() -> Never {
    var entry = pollfd(fd: lifeline, events: Int16(POLLIN), revents: 0)
    poll(&entry, 1, GuardianWatch.lifelineDelay)
    if page.isOver { _exit(0) }
    finish()
  }

  private mutating func wait() -> Never {
    while true {
      var entries = [
        pollfd(fd: lifeline, events: Int16(POLLIN), revents: 0),
        pollfd(fd: partner, events: Int16(POLLIN), revents: 0),
        pollfd(fd: oprun, events: Int16(POLLIN), revents: 0),
      ]
      let count = poll(&entries, 3, partner < 0 ? delay : -1)
      if page.isOver { _exit(0) }
      if entries[2].revents != 0 { awaitLifeline() }
      if entries[0].revents != 0 { finish() }
      if count == 0 || entries[1].revents != 0 { startPartner() }
    }
  }

  /// Starts a partner in place of one that has ended, or the first one. Returns in the new process,
  /// too.
  private mutating func startPartner() {
    closePartner()
    // The number of the partner is free from here on; we do not reap it if it started us.
    let last = page.guardian(at: 1 - seat)
    var status: Int32 = 0
    if last > 0 { waitpid(last, &status, 0) }
    page.take(seat: 1 - seat, by: 0)
    delay = GuardianWatch.nextAttempt
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, streamSocket, 0, &ends) == 0 else { return }
    let process = clinux_fork()
    if process == 0 {
      setsid()
      seat = 1 - seat
      page.take(seat: seat, by: getpid())
    } else if process > 0 {
      page.take(seat: 1 - seat, by: process)
    }
    close(ends[process == 0 ? 0 : 1])
    partner = ends[process == 0 ? 1 : 0]
    if process < 0 { closePartner() }
  }

  private mutating func closePartner() {
    if partner >= 0 { close(partner) }
    partner = -1
  }

  /// Called when oprun is gone. Both partners do the work, because either may be stopped or killed
  /// meanwhile.
  private func finish() -> Never {
    page.terminal?.restore()
    sweep.run(sparing: page.guardians, groups: page.groups)
    // A stopped partner has nothing left to do.
    if isPartnerThere { kill(page.guardian(at: 1 - seat), SIGKILL) }
    _exit(0)
  }

  private var isPartnerThere: Bool {
    var entry = pollfd(fd: partner, events: Int16(POLLIN), revents: 0)
    return partner >= 0 && page.guardian(at: 1 - seat) > 0 && poll(&entry, 1, 0) == 0
  }
}

private let streamSocket = Int32(CLINUX_STREAM_SOCKET)
