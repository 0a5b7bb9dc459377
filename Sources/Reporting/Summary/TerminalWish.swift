// Detects that a command failed for want of a terminal. The messages of programs are all there is
// to go by.

import Diagnostics

enum TerminalWish {
  /// The complaints, in lower case.
  private static let complaints = [
    // sudo, su
    "a terminal is required", "no tty present", "must be run from a terminal",
    // git
    "could not read username for", "could not read password for", "terminal prompts disabled",
    // ssh
    "host key verification failed", "permission denied (publickey,password",
    "permission denied, please try again",
    // docker
    "the input device is not a tty",
    // programs that open it, or ask for its modes
    "/dev/tty", "inappropriate ioctl for device", "stdin is not a tty",
    "standard input is not a terminal", "input is not a terminal",
  ]

  static func isSaid(in line: String) -> Bool {
    let line = line.lowercased()
    return complaints.contains { line.containsText($0) }
  }
}
