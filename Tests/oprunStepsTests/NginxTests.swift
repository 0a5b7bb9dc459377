// The same downloads from a widely used server.

import Foundation
import TestSupport
import Testing

@testable import oprun_steps

@Suite(.blocking) struct NginxTests {
  @Test func `a file is fetched, and the next time it has not changed`() throws {
    let nginx = try Nginx()
    try nginx.workspace.write("hello\n", to: "files/hello.txt")
    for _ in 1...2 {
      let end = try nginx.workspace.run(
        "download", "--url=\(nginx.url)/hello.txt", "--to=in/", "--allow-private")
      #expect(end.status == 0)
    }
    #expect(nginx.entries(2).map(\.status) == ["200", "304"])
    #expect(nginx.workspace.content("in/hello.txt") == "hello\n")
  }

  @Test func `what was cut off by a kill is gone on with`() throws {
    // The whole would take minutes; the rest comes at once.
    let nginx = try Nginx([
      "listen 127.0.0.1:PORT; limit_rate_after 1m; if ($http_range = '') { set $limit_rate 20k; }"
    ])
    let content = (0..<600_000).map { "\($0)\n" }.joined()
    try nginx.workspace.write(content, to: "files/large.txt")
    let words = [
      "download", "--url=\(nginx.url)/large.txt", "--to=large.txt", "--allow-private",
    ]
    let first = try nginx.workspace.start(words: words)
    while !nginx.workspace.exists("large.txt.part.from") { usleep(1000) }
    kill(first.processID, SIGKILL)
    _ = first.wait()
    let second = try nginx.workspace.run(words: words)
    #expect(second.status == 0)
    #expect(nginx.workspace.content("large.txt") == content)
    #expect(nginx.entries(2).last?.status == "206")
  }

  @Test func `a hundred files come over few connections`() throws {
    let entries = try downloadOneHundred(from: Nginx(), scheme: "http", host: "127.0.0.1")
    #expect(entries.allSatisfy { $0.version == "HTTP/1.1" })
    #expect(Set(entries.map(\.connection)).count <= 6)
  }

  @Test func `over TLS they come by HTTP 2, over one connection`() throws {
    let authority = try Authority()
    let server = try authority.server(named: "localhost", more: "http2")
    let nginx = try Nginx([server], in: authority.workspace)
    let entries = try downloadOneHundred(from: nginx, scheme: "https", host: "localhost")
    #expect(entries.allSatisfy { $0.version == "HTTP/2.0" })
    #expect(Set(entries.map(\.connection)).count == 1)
  }

  @Test func `a TLS server that knows no HTTP 2 keeps its connections, too`() throws {
    let authority = try Authority()
    let nginx = try Nginx([authority.server(named: "localhost")], in: authority.workspace)
    let entries = try downloadOneHundred(from: nginx, scheme: "https", host: "localhost")
    #expect(entries.allSatisfy { $0.version == "HTTP/1.1" })
    #expect(Set(entries.map(\.connection)).count <= 6)
  }

  private func downloadOneHundred(
    from nginx: Nginx, scheme: String, host: String
  ) throws -> [Nginx.Entry] {
    for index in 1...100 { try nginx.workspace.write("\(index)", to: "files/\(index)") }
    let urls = (1...100).map { "\(scheme)://\(host):\(nginx.ports[0])/\($0)" }
    try nginx.workspace.write(urls.joined(separator: "\n"), to: "urls")
    let end = try nginx.workspace.run(
      words: ["download", "--list=urls", "--to=in/", "--allow-private"],
      environment: scheme == "https" ? ["SSL_CERT_FILE": "authority.pem"] : [:])
    #expect(end.output == "100 files, 192 B received in TIME\n", "\(end.errors)")
    let all = (1...100).map { nginx.workspace.content("in/\($0)") }
    #expect(all == (1...100).map(String.init))
    let entries = nginx.entries(100)
    #expect(entries.count == 100)
    return entries
  }
}
