// Proxies: from the environment as for curl, from the input, none; tunnels; and the message when
// one refuses.

import Foundation
import TestSupport
import Testing

@testable import oprun_steps

/// A name that only a proxy could know.
private let url = "http://photos.test/hello.txt"

/// A proxy that answers for whatever host it is asked.
private func answering(_ status: String = "200 OK") throws -> LoopbackServer {
  try LoopbackServer { _, connection in connection.answer(status, [], "hello\n") }
}

private func download(
  _ url: String = url, _ more: [String] = [], _ environment: [String: String] = [:],
  in workspace: Workspace? = nil
) throws -> (end: ProgramEnd, content: String, attempts: String) {
  let workspace = try workspace ?? Workspace()
  let words = [
    "download", "--url=\(url)", "--to=x", "--retry-delay=1ms", "--manifest=m.json",
  ]
  let retries = more.contains { $0.hasPrefix("--retries=") } ? [] : ["--retries=2"]
  let end = try workspace.run(words: words + retries + more, environment: environment)
  let attempts = workspace.content("m.json").firstMatch(of: /"attempts":(\d+)/)
  return (end, workspace.content("x"), attempts.map { String($0.output.1) } ?? "none")
}

@Suite(.blocking) struct ProxyTests {
  @Test(arguments: ["http_proxy", "all_proxy", "ALL_PROXY"])
  func `a variable names the proxy for http`(variable: String) throws {
    let proxy = try answering()
    let got = try download(url, [], [variable: "127.0.0.1:\(proxy.port)"])
    #expect(got.end.status == 0, "\(got.end.errors)")
    #expect(got.content == "hello\n")
    #expect(proxy.requests.map(\.path) == [url])
  }

  @Test func `the variable in capitals is not asked for http, as in curl`() throws {
    let proxy = try answering()
    let server = try answering()
    let got = try download(server.url, ["--allow-private"], ["HTTP_PROXY": proxy.url])
    #expect(got.end.status == 0, "\(got.end.errors)")
    #expect(proxy.requests.isEmpty)
    #expect(server.requests.count == 1)
  }

  @Test(arguments: ["127.0.0.1", "a.test, 127.0.0.1", "*"])
  func `hosts of no_proxy are asked themselves`(list: String) throws {
    let proxy = try answering()
    let server = try answering()
    let got = try download(
      server.url, ["--allow-private"], ["http_proxy": proxy.url, "no_proxy": list])
    #expect(got.end.status == 0, "\(got.end.errors)")
    #expect(proxy.requests.isEmpty)
    #expect(server.requests.count == 1)
  }

  @Test func `the proxy is the one that libcurl would choose`() throws {
    func proxy(_ url: String, _ variables: [String: String]) throws -> String? {
      Proxies { variables[$0] }.proxy(for: try #require(WebAddress(url)))
    }
    let all = [
      "http_proxy": "a:1", "HTTPS_PROXY": "socks5://b", "ALL_PROXY": "c", "https_proxy": "",
    ]
    #expect(try proxy("http://x/", all) == "a:1")
    #expect(try proxy("https://x/", all) == "socks5h://b")
    #expect(
      try proxy("http://x/", ["HTTP_PROXY": "a", "ALL_PROXY": "SOCKS4://c"]) == "socks4a://c")
    let excepted = [
      ("x.test", "x.test"), ("X.Test", "a, .x.test."), ("y.x.test", "x.test"),
      ("x.test.", "x.test"),
      ("x.test", "*"), ("10.1.2.3", "10.0.0.0/8"), ("10.1.2.3", "a 10.1.2.3"), ("[::1]", "::1"),
      ("[fe80::1]", "fe80::/10"), ("10.127.0.1", "10.64.0.0/10"),
    ]
    for (host, list) in excepted {
      #expect(try proxy("http://\(host)/", ["all_proxy": "p", "NO_PROXY": list]) == nil, "\(list)")
    }
    for (host, list) in [
      ("yx.test", "x.test"), ("x.test", "y.x.test"), ("11.1.2.3", "10.0.0.0/8"), ("x", "a,*"),
      ("10.128.0.1", "10.64.0.0/10"), ("10.1.2.3", "10"), ("x.test", "."), ("x", ""),
    ] {
      let variables = ["all_proxy": "p", "no_proxy": list]
      #expect(try proxy("http://\(host)/", variables) == "p", "\(list)")
    }
  }

  @Test func `the input goes before the variables, and can be none`() throws {
    let (wrong, right) = (try answering("502 Wrong"), try answering())
    let named = try download(url, ["--proxy=\(right.url)"], ["http_proxy": wrong.url])
    #expect(named.end.status == 0, "\(named.end.errors)")
    #expect(right.requests.map(\.path) == [url])
    let none = try download(
      right.url, ["--proxy=none", "--allow-private"], ["http_proxy": wrong.url])
    #expect(none.end.status == 0, "\(none.end.errors)")
    #expect(wrong.requests.isEmpty)
  }

  @Test(arguments: ["https_proxy", "HTTPS_PROXY", "all_proxy"])
  func `TLS goes through a tunnel, to a name that the proxy knows`(variable: String) throws {
    let authority = try Authority()
    let nginx = try Nginx([authority.server(named: "photos.test")], in: authority.workspace)
    try nginx.workspace.write("hello\n", to: "files/hello.txt")
    let proxy = try nginx.tunnel()
    let variables = [variable: proxy.url, "SSL_CERT_FILE": "authority.pem"]
    let got = try download(
      "https://photos.test/hello.txt", [], variables, in: nginx.workspace)
    #expect(got.end.output == "x  6 B  TIME\n1 file, 6 B received in TIME\n", "\(got.end.errors)")
    #expect(got.content == "hello\n")
    #expect(proxy.requests.map(\.method) == ["CONNECT"])
    #expect(proxy.requests.map(\.path) == ["photos.test:443"])
  }

  @Test func `what the proxy says of a tunnel is not taken for the answer`() throws {
    let authority = try Authority()
    let nginx = try Nginx([authority.server(named: "photos.test")], in: authority.workspace)
    let proxy = try nginx.tunnel()
    let variables = ["https_proxy": proxy.url, "SSL_CERT_FILE": "authority.pem"]
    let got = try download("https://photos.test/none", [], variables, in: nginx.workspace)
    #expect(got.end.errors == "failed: https://photos.test/none: answers 404 (not found)\n")
    #expect(got.content == "")
    let wait = try nginx.workspace.run(
      words: ["wait", "--http=https://photos.test/none", "--timeout=0s"], environment: variables)
    #expect(
      wait.errors
        == "oprun-steps: not ready after TIME: http 'https://photos.test/none': answers 404\n")
  }

  @Test func `a proxy that refuses is told; what may pass is tried again`() throws {
    let cases = [
      ("407 Who Are You", "answers 407 (proxy authentication required)", "1"),
      ("403 No", "answers 403 (forbidden)", "1"), ("502 Bad", "answers 502 (bad gateway)", "3"),
    ]
    for (status, words, attempts) in cases {
      let proxy = try answering(status)
      let open = try download(url, ["--proxy=\(proxy.url)"])
      #expect(open.end.errors == "failed: \(url): \(words)\n")
      #expect(open.attempts == attempts)
      let secret = try download("https://photos.test/x", ["--proxy=\(proxy.url)"])
      #expect(
        secret.end.errors == """
          failed: https://photos.test/x: the proxy \(words) to a connection to 'photos.test:443'

          """)
      #expect(secret.attempts == attempts)
      #expect(secret.content == "")
    }
  }

  @Test func `a proxy that speaks TLS has to be trusted as well`() throws {
    let authority = try Authority()
    let nginx = try Nginx([authority.server(named: "localhost")], in: authority.workspace)
    try nginx.workspace.write("hello\n", to: "files/hello.txt")
    let proxy = "--proxy=https://localhost:\(nginx.ports[0])"
    let trusted = try download(
      url, [proxy], ["SSL_CERT_FILE": "authority.pem"], in: nginx.workspace)
    #expect(trusted.end.status == 0, "\(trusted.end.errors)")
    #expect(trusted.content == "hello\n")
    let unknown = try download(url, [proxy])
    #expect(
      unknown.end.errors == """
        failed: \(url): the certificate of the proxy is refused: unable to get local issuer \
        certificate; SSL_CERT_FILE can name a file with its authority

        """)
    #expect(unknown.attempts == "1")
  }

  @Test func `a proxy that is not there is told`() throws {
    let closed = try ClosedPort()
    let port = closed.number
    let got = try download(url, ["--proxy=http://127.0.0.1:\(port)", "--retries=0"])
    #expect(got.end.errors.hasPrefix("failed: \(url): failed to connect to 127.0.0.1 port \(port)"))
    withExtendedLifetime(closed) {}
    // Longer than names can be, so that no name service is asked.
    let name = String(repeating: "x", count: 64)
    let unknown = try download(url, ["--proxy=http://me:hidden@\(name):1", "--retries=0"])
    #expect(unknown.end.errors.hasPrefix("failed: \(url): could not resolve proxy: xxx"))
  }

  @Test func `its credentials are for the proxy alone, and are not shown`() throws {
    let server = try answering("404 No")
    let authority = try Authority()
    let nginx = try Nginx([authority.server(named: "photos.test")], in: authority.workspace)
    let tunnel = try nginx.tunnel()
    let open = try download(
      url, ["--proxy=http://me:hidden@127.0.0.1:\(server.port)"], in: nginx.workspace)
    let basic = "Basic \(Data("me:hidden".utf8).base64EncodedString())"
    #expect(server.requests.map { $0.headers["proxy-authorization"] } == [basic])
    #expect(server.requests.map { $0.headers["authorization"] } == [nil])
    let secret = try download(
      "https://photos.test/none", ["--proxy=http://me:hidden@127.0.0.1:\(tunnel.port)"],
      ["SSL_CERT_FILE": "authority.pem"], in: nginx.workspace)
    #expect(tunnel.requests.map { $0.headers["proxy-authorization"] } == [basic])
    #expect(secret.end.errors == "failed: https://photos.test/none: answers 404 (not found)\n")
    for text in [
      open.end.errors, open.end.output, secret.end.output, nginx.workspace.content("m.json"),
    ] {
      #expect(!text.contains("hidden"))
    }
  }

  @Test func `an address that is written as such is checked in spite of a proxy`() throws {
    let proxy = try answering()
    for host in ["127.0.0.1", "10.0.0.1", "[::1]", "169.254.169.254"] {
      let got = try download("http://\(host)/", ["--proxy=\(proxy.url)"])
      #expect(got.end.status == 1)
      let written = [
        "127.0.0.1": "SERVER", "[::1]": "\"[::1]:80\"",
      ][host, default: "\(host):80"]
      #expect(got.end.errors.contains("use 'allow: \(written)' to allow it"), "\(got.end.errors)")
    }
    #expect(proxy.requests.isEmpty)
    let allowed = try download("http://10.0.0.1/", ["--proxy=\(proxy.url)", "--allow=10.0.0.1:80"])
    #expect(allowed.end.status == 0, "\(allowed.end.errors)")
  }

  @Test(arguments: [
    "%30x7f.1", "127.0.0.1.", "localhost", "x.localhost", "\u{ff11}27.0.0.1", "2130706433",
  ])
  func `an address in disguise is checked as well`(host: String) throws {
    let proxy = try answering()
    let got = try download("http://\(host):18/", ["--proxy=\(proxy.url)"])
    #expect(got.end.status == 1)
    #expect(got.end.errors.contains("an address of this machine"), "\(got.end.errors)")
    #expect(proxy.requests.isEmpty)
  }

  @Test func `the address of a proxy is none for what goes elsewhere`() throws {
    let proxy = try answering()
    for environment in [["https_proxy": proxy.url], ["http_proxy": proxy.url]] {
      let got = try download(proxy.url, [], environment)
      #expect(got.end.status == 1)
      #expect(got.end.errors.contains("an address of this machine"), "\(got.end.errors)")
    }
    let excepted = try download(proxy.url, [], ["http_proxy": proxy.url, "no_proxy": "127.0.0.1"])
    #expect(excepted.end.status == 1)
    #expect(proxy.requests.isEmpty)
  }

  @Test func `a redirect through a proxy is checked, too`() throws {
    let proxy = try LoopbackServer { request, connection in
      connection.answer("302 Found", ["Location: http://127.0.0.1/secret"])
    }
    let got = try download(url, ["--proxy=\(proxy.url)"])
    #expect(
      got.end.errors == """
        failed: \(url): 127.0.0.1 is an address of this machine; use 'allow: SERVER' to \
        allow it, or 'allow_private: true' to allow all such addresses

        """)
    #expect(proxy.requests.count == 1)
  }

  @Test(arguments: ["ftp://proxy:1", "http://", "me:hidden@a b", "gopher://me:hidden@x/"])
  func `what is no proxy is refused before anything, without its password`(value: String) throws {
    let end = try download(url, ["--proxy=\(value)"]).end
    #expect(end.status == 2)
    #expect(end.errors.hasPrefix("oprun-steps: '--proxy' wants the URL of a proxy"))
    #expect(!end.errors.contains("hidden"))
  }
}
