import Diagnostics
import Testing

struct `Names of signals` {
  @Test func `are those that shells show`() {
    #expect(
      [1, 9, 10, 15, 16, 29, 31, 32, 34, 35, 49, 50, 63, 64, 65, 0, -1].map { signalName($0) } == [
        "SIGHUP", "SIGKILL", "SIGUSR1", "SIGTERM", "SIGSTKFLT", "SIGIO", "SIGSYS", "signal 32",
        "SIGRTMIN", "SIGRTMIN+1", "SIGRTMIN+15", "SIGRTMAX-14", "SIGRTMAX-1", "SIGRTMAX",
        "signal 65", "signal 0", "signal -1",
      ])
  }

  @Test func `give their numbers`() {
    #expect(
      ["HUP", "KILL", "TERM", "SYS", "", "SIGHUP", "NONE"].map { signalNumber(named: $0) } == [
        1, 9, 15, 31, nil, nil, nil,
      ])
  }
}
