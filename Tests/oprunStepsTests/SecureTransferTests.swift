// TLS: which servers are trusted, which are not, and the messages.

import Foundation
import TestSupport
import Testing

@testable import oprun_steps

/// One download of `/hello.txt`, as a user would see it.
private struct Attempt {
  let end: ProgramEnd
  /// The number of attempts according to the manifest.
  let attempts: String
  let hasFile: Bool

  init(
    from host: String, _ nginx: Nginx, _ more: [String] = [], trust: [String: String] = [:]
  ) throws {
    try nginx.workspace.write("hello\n", to: "files/hello.txt")
    end = try nginx.workspace.run(
      words: [
        "download", "--url=https://\(host):\(nginx.ports[0])/hello.txt", "--to=in.txt",
        "--allow-private", "--retry-delay=1ms", "--manifest=m.json",
      ] + more, environment: trust)
    let manifest = nginx.workspace.content("m.json")
    attempts = manifest.firstMatch(of: /"attempts":(\d+)/).map { String($0.output.1) } ?? "none"
    hasFile = nginx.workspace.exists("in.txt") || nginx.workspace.exists("in.txt.part")
  }

  /// The message about the item.
  var message: String {
    end.errors.replacing(#/^failed: https:[^ ]+: /#, with: "")
  }
}

@Suite(.blocking) struct SecureTransferTests {
  @Test(arguments: [
    ["SSL_CERT_FILE": "authority.pem"], ["CURL_CA_BUNDLE": "authority.pem"],
    ["SSL_CERT_DIR": "authorities"],
    ["CURL_CA_BUNDLE": "authority.pem", "SSL_CERT_FILE": "/nonexistent"],
    ["CURL_CA_BUNDLE": "", "SSL_CERT_FILE": "authority.pem"],
  ])
  func `a server is believed whose authority a variable names`(trust: [String: String]) throws {
    let authority = try Authority()
    try authority.makeFolder("authorities")
    let nginx = try Nginx([authority.server(named: "localhost")], in: authority.workspace)
    let attempt = try Attempt(from: "localhost", nginx, trust: trust)
    #expect(attempt.end.status == 0, "\(attempt.end.errors)")
    #expect(attempt.hasFile)
  }

  @Test func `one whose authority is unknown is refused, once`() throws {
    let authority = try Authority()
    let nginx = try Nginx([authority.server(named: "localhost")], in: authority.workspace)
    let attempt = try Attempt(from: "localhost", nginx)
    #expect(attempt.end.status == 1)
    #expect(
      attempt.message == """
        the certificate of 'localhost' is refused: unable to get local issuer certificate; \
        SSL_CERT_FILE can name a file with its authority

        """)
    #expect(attempt.attempts == "1")
    #expect(!attempt.hasFile)
  }

  @Test func `one that has another name is refused, once`() throws {
    let authority = try Authority()
    let nginx = try Nginx([authority.server(named: "other.test")], in: authority.workspace)
    let attempt = try Attempt(from: "localhost", nginx, trust: ["SSL_CERT_FILE": "authority.pem"])
    #expect(
      attempt.message.hasPrefix(
        "the certificate of 'localhost' is refused: no alternative certificate subject name matches"
      ),
      "\(attempt.message)")
    #expect(attempt.attempts == "1")
    #expect(!attempt.hasFile)
  }

  @Test func `one whose certificate has expired is refused, once`() throws {
    let authority = try Authority()
    let nginx = try Nginx(
      [authority.server(named: "localhost", days: -1)], in: authority.workspace)
    let attempt = try Attempt(from: "localhost", nginx, trust: ["SSL_CERT_FILE": "authority.pem"])
    #expect(
      attempt.message == "the certificate of 'localhost' is refused: certificate has expired\n")
    #expect(attempt.attempts == "1")
    #expect(!attempt.hasFile)
  }

  @Test func `a file of authorities that is none is told, once`() throws {
    let nginx = try Nginx()
    let attempt = try Attempt(from: "localhost", nginx, trust: ["SSL_CERT_FILE": "/nonexistent"])
    #expect(attempt.message.contains("/nonexistent"), "\(attempt.message)")
    #expect(attempt.attempts == "1")
  }

  @Test func `a server that does not speak TLS is given up at once`() throws {
    let nginx = try Nginx()
    let attempt = try Attempt(from: "localhost", nginx)
    #expect(attempt.message.contains("the port does not speak TLS"), "\(attempt.message)")
    #expect(attempt.attempts == "1")
  }

  @Test func `a connection that breaks in the handshake is tried again`() throws {
    let authority = try Authority()
    let nginx = try Nginx([authority.server(named: "localhost")], in: authority.workspace)
    let proxy = try LoopbackServer { [port = nginx.ports[0]] request, connection in
      if request.number < 2 {
        connection.write("HTTP/1.1 200 OK\r\n\r\n")
      } else {
        connection.tunnel(to: port)
      }
    }
    let attempt = try Attempt(
      from: "localhost", nginx, ["--proxy=\(proxy.url)"], trust: ["SSL_CERT_FILE": "authority.pem"])
    #expect(attempt.end.status == 0, "\(attempt.end.errors)")
    #expect(attempt.attempts == "3")
  }

  @Test func `a connection that always breaks in the handshake is told as that`() throws {
    let proxy = try LoopbackServer { _, connection in
      connection.write("HTTP/1.1 200 OK\r\n\r\n")
    }
    let attempt = try Attempt(
      from: "localhost", try Nginx(), ["--proxy=\(proxy.url)", "--retries=1"])
    #expect(attempt.message == "the connection was closed during the TLS handshake\n")
    #expect(attempt.attempts == "2")
  }

  @Test func `a redirect out of TLS is followed without secrets`() throws {
    let open = try LoopbackServer { _, connection in connection.answer("200 OK", [], "hello\n") }
    let authority = try Authority()
    let block = try authority.server(
      named: "localhost", more: "; return 302 http://localhost:\(open.port)/open")
    let nginx = try Nginx([block], in: authority.workspace)
    try nginx.workspace.write("machine localhost login me password hidden\n", to: ".netrc")
    let attempt = try Attempt(
      from: "localhost", nginx, ["--headers=Authorization: Bearer x", "--headers=Accept: a/b"],
      trust: ["SSL_CERT_FILE": "authority.pem"])
    #expect(attempt.end.status == 0, "\(attempt.end.errors)")
    #expect(open.requests.map(\.path) == ["/open"])
    #expect(open.requests.map { $0.headers["authorization"] } == [nil])
    #expect(open.requests.map { $0.headers["accept"] } == ["a/b"])
  }

  @Test func `a wait for a server follows the same rules`() throws {
    let authority = try Authority()
    let nginx = try Nginx([authority.server(named: "localhost")], in: authority.workspace)
    try nginx.workspace.write("ready", to: "files/health")
    let words = ["wait", "--http=https://localhost:\(nginx.ports[0])/health", "--timeout=0s"]
    let known = try nginx.workspace.run(
      words: words, environment: ["SSL_CERT_FILE": "authority.pem"])
    #expect(known.status == 0, "\(known.errors)")
    let unknown = try nginx.workspace.run(words: words)
    #expect(unknown.status == 1)
    #expect(
      unknown.errors.hasSuffix(
        """
        the certificate of 'localhost' is refused: unable to get local issuer certificate; \
        SSL_CERT_FILE can name a file with its authority

        """), "\(unknown.errors)")
  }
}
