// Who listens at a port of this machine.

import Plans
import TestSupport
import Testing

@testable import Execution

/// The numbers of words are in the order of bytes of little-endian machines.
@Suite(.blocking) struct ListenersTests {
  /// The port 5432 is 1538 there, and 0A is a socket that accepts connections.
  private func sockets(_ address: String, state: String = "0A") -> [LocalServer.Host: Bool] {
    let table = """
        sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
         0: \(address):1538 00000000:0000 \(state) 00000000:00000000 00:00000000 00000000  0  0 4242 1 0

      """
    let hosts: [LocalServer.Host] = [
      .localhost, .fourNumbers([127, 0, 0, 1]), .fourNumbers([127, 0, 0, 2]), .one,
    ]
    return Dictionary(
      uniqueKeysWithValues: hosts.map { host in
        let found = Listeners.sockets(
          at: LocalServer(host, port: 5432), in: Array(table.utf8))
        #expect(found.isEmpty || found == ["socket:[4242]"])
        return (host, !found.isEmpty)
      })
  }

  private func answers(_ address: String) -> [Bool] {
    let found = sockets(address)
    return [
      found[.localhost], found[.fourNumbers([127, 0, 0, 1])], found[.fourNumbers([127, 0, 0, 2])],
      found[.one],
    ].map { $0 == true }
  }

  @Test func `a socket answers at its address, or at every one`() {
    #expect(answers("0100007F") == [true, true, false, false])
    #expect(answers("0200007F") == [false, false, true, false])
    #expect(answers("00000000") == [true, true, true, false])
    #expect(answers("0100000A") == [false, false, false, false])
    #expect(answers("00000000000000000000000000000000") == [true, true, true, true])
    #expect(answers("00000000000000000000000001000000") == [true, false, false, true])
    #expect(answers("0000000000000000FFFF00000100007F") == [true, true, false, false])
  }

  @Test func `only a socket that accepts connections counts, and only at this port`() {
    #expect(!sockets("0100007F", state: "01").values.contains(true))
    let other = LocalServer(.localhost, port: 5433)
    #expect(Listeners.sockets(at: other, in: Array("sl\n".utf8)) == [])
  }
}
