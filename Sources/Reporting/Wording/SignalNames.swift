// Signals by name. The numbers are those of Linux on x86-64 and arm64.

/// `SIGKILL` for 9; `signal 40` for one without a name.
package func signalName(_ number: Int32) -> String {
  guard number > 0, names.indices.contains(Int(number)) else { return "signal \(number)" }
  return "SIG" + names[Int(number)]
}

private let names = [
  "", "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
  "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU",
  "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
]
