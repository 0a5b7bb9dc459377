// Signals by name. The numbers are those of Linux on x86-64 and arm64, the names of real-time
// signals those of the GNU C library, as shells show them.

/// `SIGKILL` for 9, `SIGRTMIN+1` for 35; `signal 32` for one without a name.
package func signalName(_ number: Int32) -> String {
  switch number {
  case 1..<Int32(names.count): "SIG" + names[Int(number)]
  case 34: "SIGRTMIN"
  case 35..<50: "SIGRTMIN+\(number - 34)"
  case 50..<64: "SIGRTMAX-\(64 - number)"
  case 64: "SIGRTMAX"
  default: "signal \(number)"
  }
}

/// The number of a signal: 9 for `KILL`; nil if `name` is not that of an ordinary signal.
package func signalNumber(named name: String) -> Int32? {
  name.isEmpty ? nil : names.firstIndex(of: name).map { Int32($0) }
}

/// The signals by which a person, a terminal or a system asks a program to end: HUP, INT, QUIT and TERM.
package let signalsToEnd: [Int32] = [1, 2, 3, 15]

private let names = [
  "", "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
  "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU",
  "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
]
