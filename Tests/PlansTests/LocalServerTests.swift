// Which conditions ask a port of this machine.

import Testing

@testable import Plans

struct LocalServerTests {
  @Test(
    arguments: [
      ("localhost:5432", LocalServer(.localhost, port: 5432)),
      ("LocalHost:80", LocalServer(.localhost, port: 80)),
      ("127.0.0.2:1", LocalServer(.fourNumbers([127, 0, 0, 2]), port: 1)),
      ("[::1]:443", LocalServer(.one, port: 443)),
      ("db:5432", nil), ("10.0.0.1:80", nil), ("127.0.0:80", nil), ("127.0.0.1.2:80", nil),
      ("localhost", nil), ("localhost:0", nil), ("[::2]:80", nil),
    ] as [(String, LocalServer?)])
  func `an address is that of this machine or not`(text: String, server: LocalServer?) {
    #expect(ProbeModel.Kind.tcp.server(at: text) == server)
  }

  @Test(
    arguments: [
      ("http://localhost:8080/health?x=@", LocalServer(.localhost, port: 8080)),
      ("http://localhost", LocalServer(.localhost, port: 80)),
      ("HTTPS://127.0.0.1/", LocalServer(.fourNumbers([127, 0, 0, 1]), port: 443)),
      ("http://user:pass@[::1]:81/", LocalServer(.one, port: 81)),
      ("http://example.org/localhost:80", nil), ("ftp://localhost/", nil), ("http://", nil),
    ] as [(String, LocalServer?)])
  func `a URL is that of this machine or not`(text: String, server: LocalServer?) {
    #expect(ProbeModel.Kind.http.server(at: text) == server)
  }

  @Test func `files and commands are at no port`() {
    #expect(ProbeModel.Kind.file.server(at: "localhost:80") == nil)
    #expect(ProbeModel.Kind.command.server(at: "localhost:80") == nil)
  }

  @Test func `localhost is both of its addresses, which are two servers`() {
    let (both, six) = (LocalServer(.localhost, port: 80), LocalServer(.one, port: 80))
    let four = LocalServer(.fourNumbers([127, 0, 0, 1]), port: 80)
    let other = LocalServer(.fourNumbers([127, 0, 0, 2]), port: 80)
    for (first, second) in [(both, four), (both, six), (both, both), (four, four), (other, other)] {
      #expect(first.meets(second) && second.meets(first))
    }
    for (first, second) in [(four, six), (four, other), (both, other)] {
      #expect(!first.meets(second) && !second.meets(first))
    }
    #expect(!both.meets(LocalServer(.localhost, port: 81)))
  }
}
