// Finds the processes that listen at a port of this machine, in /proc: proc_pid_net(5),
// proc_pid_fd(5). No connection is made, so they do not notice.

import Diagnostics
import Glibc
import Plans
import Processors
import RunFiles
import Running
import Scheduling

/// A process that listens at a port.
struct PortHolder: Hashable {
  /// The name and the id of the process; nil if the processes of another user are not shown.
  var process: ProcessName?
  /// True if the process was started by the run.
  var isOfRun = false
  /// The operation that the process belongs to, if that is still running.
  var operation: OperationID?

  struct ProcessName: Hashable {
    let name: String
    let id: Int32
  }
}

extension LocalProcesses {
  func holders(of server: LocalServer) -> [PortHolder] {
    let sockets = Listeners.sockets(at: server)
    if sockets.isEmpty { return [] }
    let holders = Listeners.processes(with: sockets).map(holder)
    return holders.isEmpty ? [PortHolder()] : holders
  }

  private func holder(_ status: ProcessStatus) -> PortHolder {
    let process = PortHolder.ProcessName(name: status.name, id: status.processID)
    let number = cookie.command(of: status.processID)
    let line = ancestors(of: status)
    // A server may have overwritten its environment with its title.
    let command =
      commands.first { $0.number == number }
      ?? commands.first { $0.exit == nil && line.contains($0.processID) }
    return PortHolder(
      process: process, isOfRun: number != nil || line.contains(getpid()),
      operation: command?.key.operation)
  }

  /// The process and those that started it, up to this one. A process that has lost its parent belongs to this one.
  private func ancestors(of status: ProcessStatus) -> [Int32] {
    var line = [status.processID]
    var parent = status.parentID
    // A process may end meanwhile, and its number may be reused.
    while parent > 1, line.count < 1000 {
      line.append(parent)
      if parent == getpid() { break }
      guard let next = ProcessStatus(of: parent)?.parentID else { break }
      parent = next
    }
    return line
  }
}

enum Listeners {
  /// The sockets that accept connections at the server's address, as links to them read: `socket:[4242]`.
  static func sockets(at server: LocalServer) -> Set<String> {
    var found: Set<String> = []
    for table in ["/proc/self/net/tcp", "/proc/self/net/tcp6"] {
      found.formUnion(sockets(at: server, in: readSmallFile(table) ?? []))
    }
    return found
  }

  /// The sockets in the text of such a table.
  static func sockets(at server: LocalServer, in table: [UInt8]) -> Set<String> {
    let addresses = server.listeningAddresses
    var found: Set<String> = []
    for line in table.split(separator: UInt8(ascii: "\n")).dropFirst() {
      let fields = line.split(separator: UInt8(ascii: " "))
      guard fields.count > 9, fields[3].elementsEqual("0A".utf8) else { continue }
      let address = String(decoding: fields[1], as: UTF8.self)
      if addresses.contains(address) {
        found.insert("socket:[\(String(decoding: fields[9], as: UTF8.self))]")
      }
    }
    return found
  }

  /// The processes that have one of the sockets open, as far as they are shown.
  static func processes(with sockets: Set<String>) -> [ProcessStatus] {
    ProcessStatus.all().sorted().filter { process in
      let path = "/proc/\(process)/fd"
      let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      guard folder >= 0 else { return false }
      return (namesOfFiles(owning: folder) ?? []).contains { name in
        link("\(path)/\(name)").map(sockets.contains) ?? false
      }
    }
    .compactMap { ProcessStatus(of: $0) }
  }

  private static func link(_ path: String) -> String? {
    var buffer = [CChar](repeating: 0, count: 64)
    let count = readlink(path, &buffer, buffer.count)
    guard count > 0 else { return nil }
    return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

extension LocalServer {
  /// The addresses of the sockets that answer, as /proc writes them: each word of an address as a
  /// number of this machine.
  fileprivate var listeningAddresses: Set<String> {
    let any: [UInt8] = [0, 0, 0, 0]
    let nothing = [UInt8](repeating: 0, count: 12)
    let mapped = [UInt8](repeating: 0, count: 10) + [255, 255]
    let one = nothing + [0, 0, 0, 1]
    let addresses: [[UInt8]] =
      switch host {
      case .localhost: [any, [127, 0, 0, 1], mapped + [127, 0, 0, 1], nothing + any, one]
      case .fourNumbers(let numbers): [any, numbers, mapped + numbers, nothing + any]
      case .one: [nothing + any, one]
      }
    return Set(
      addresses.map { "\(words($0)):\(hexadecimal(UInt64(port), digits: 4, uppercase: true))" })
  }

  private func words(_ bytes: [UInt8]) -> String {
    stride(from: 0, to: bytes.count, by: 4).map { start in
      let word = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: start, as: UInt32.self) }
      return hexadecimal(UInt64(word), digits: 8, uppercase: true)
    }
    .joined()
  }
}
