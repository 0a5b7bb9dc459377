// The port of this machine that a condition asks. Who answers there is not known.

import BuiltinSteps
import Diagnostics

/// A port of this machine at which a condition expects an answer.
package struct LocalServer: Hashable, Sendable {
  /// The addresses that are asked.
  package enum Host: Hashable, Sendable {
    /// The name `localhost`: 127.0.0.1 and ::1.
    case localhost
    /// An address such as 127.0.0.1, by its four numbers.
    case fourNumbers([UInt8])
    /// The address ::1.
    case one
  }

  package let host: Host
  package let port: UInt16

  package init(_ host: Host, port: UInt16) {
    self.host = host
    self.port = port
  }

  /// Reads `localhost:5432`; nil for another machine, or for a name that only the name service knows.
  init?(_ text: String) {
    guard let place = HostAndPort(text) else { return nil }
    switch place.host {
    case "localhost": host = .localhost
    case "::1": host = .one
    default:
      let parts = place.host.split(separator: ".", omittingEmptySubsequences: false)
      let numbers = parts.compactMap { UInt8($0) }
      guard parts.count == 4, numbers.count == 4, numbers[0] == 127 else { return nil }
      host = .fourNumbers(numbers)
    }
    port = place.port
  }

  /// Reads `http://localhost:8080/health`; nil for another machine.
  init?(url: String) {
    let ports = ["http://": "80", "https://": "443"]
    guard let scheme = ports.keys.first(where: { url.lowercased().hasPrefix($0) }),
      let port = ports[scheme]
    else { return nil }
    let authority = url.dropFirst(scheme.count).prefix { !"/?#\\".contains($0) }
    let place = String(authority.split(separator: "@").last ?? "")
    self.init(HostAndPort(place) == nil ? "\(place):\(port)" : place)
  }
}

extension LocalServer {
  /// True if a single server can answer at both.
  package func meets(_ other: LocalServer) -> Bool {
    port == other.port
      && (host == other.host
        || host.isOfLocalhost && other.host.isOfLocalhost
          && (host == .localhost || other.host == .localhost))
  }
}

extension LocalServer.Host {
  /// True if `localhost` has this address, too.
  fileprivate var isOfLocalhost: Bool {
    switch self {
    case .localhost, .one: true
    case .fourNumbers(let numbers): numbers == [127, 0, 0, 1]
    }
  }
}

extension ProbeModel.Kind {
  /// The port of this machine that a condition of this kind asks; nil if it asks none.
  func server(at text: String) -> LocalServer? {
    switch self {
    case .tcp: LocalServer(text)
    case .http: LocalServer(url: text)
    case .file, .command: nil
    }
  }
}
