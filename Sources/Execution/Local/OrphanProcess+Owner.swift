// Finds and names processes that we may not signal, because they belong to another user.

import Diagnostics
import Glibc
import Plans
import Processors
import Scheduling

/// True if a signal would be refused. This is final: nothing that we do ends such a process.
func isOutOfReach(_ processID: Int32) -> Bool { kill(processID, 0) < 0 && errno == EPERM }

extension OrphanProcess {
  init(_ process: ProcessStatus, owner: String? = nil) {
    self.init(processID: process.processID, name: process.name, owner: owner)
  }

  /// Describes a process with the name of its owner; nil if the process is gone, or if /proc hides
  /// it.
  init?(outOfReach processID: Int32) {
    guard let process = ProcessStatus(of: processID), !process.isZombie else { return nil }
    self.init(process, owner: ownerName(of: processID))
  }
}

/// The name of the user whom a process runs as, or the number of one without a name.
private func ownerName(of processID: Int32) -> String {
  guard let user = userID(of: processID) else { return "unknown" }
  return userName(of: user) ?? String(user)
}

/// The effective user id of a process.
private func userID(of processID: Int32) -> UInt32? {
  guard let text = readSmallFile("/proc/\(processID)/status") else { return nil }
  for line in text.split(separator: UInt8(ascii: "\n")) where line.starts(with: "Uid:".utf8) {
    let numbers = ProcessStatus.numbers(in: line)
    return numbers.count > 1 ? UInt32(bitPattern: numbers[1]) : nil
  }
  return nil
}

/// The name of a user, only from the file: a static program cannot use the C library for this.
func userName(of user: UInt32) -> String? {
  guard let text = readSmallFile("/etc/passwd") else { return nil }
  let number = Array(String(user).utf8)
  for line in text.split(separator: UInt8(ascii: "\n")) {
    let fields = line.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    guard fields.count > 2, fields[2].elementsEqual(number) else { continue }
    return String(decoding: fields[0], as: UTF8.self)
  }
  return nil
}
