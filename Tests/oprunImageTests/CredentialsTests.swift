// Names and passwords: from `.netrc` as curl users expect, and from URLs. Who gets them, and that nobody
// is shown them.

import Diagnostics
import Foundation
import Testing

@testable import oprun_image

private func basic(_ text: String) -> String { "Basic \(Data(text.utf8).base64EncodedString())" }

/// 127.0.0.1 and localhost are two hosts here, though one machine.
private func download(
  _ url: String, netrc: String? = nil, _ more: String..., permissions: Int = 0o600
) throws -> (end: ProgramEnd, all: String) {
  let workspace = try Workspace()
  if let netrc {
    try workspace.write(netrc, to: ".netrc")
    try FileManager.default.setAttributes(
      [.posixPermissions: permissions], ofItemAtPath: workspace.path(".netrc"))
  }
  let end = try workspace.run(
    words: [
      "download", "--url=\(url)", "--to=in.txt", "--retries=0", "--allow-private",
      "--manifest=m.json",
    ] + more, environment: ["OPRUN_OUTPUT": "outputs"])
  let texts = [end.output, end.errors, workspace.content("m.json"), workspace.content("outputs")]
  return (end, texts.joined(separator: "\n"))
}

private func server(_ status: String = "200 OK") throws -> LoopbackServer {
  try LoopbackServer { _, connection in connection.answer(status, [], "hello\n") }
}

private func redirecting(to target: String) throws -> LoopbackServer {
  try LoopbackServer { request, connection in
    if request.number > 0 || request.path == "/there" { return connection.answer() }
    connection.answer("302 Found", ["Location: \(target)"])
  }
}

extension LoopbackServer {
  fileprivate var authorizations: [String?] { requests.map { $0.headers["authorization"] } }
}

struct CredentialsTests {
  @Test func `the entry of a host goes to that host`() throws {
    let server = try server()
    let netrc = """
      # a comment
      machine elsewhere.test login a password b
      machine 127.0.0.1
        login me
        password hid-den
      default login anyone password nothing
      """
    #expect(try download("\(server.url)/x", netrc: netrc).end.status == 0)
    #expect(server.authorizations == [basic("me:hid-den")])
  }

  @Test func `without an entry there is the default, and without that nothing`() throws {
    let server = try server()
    let entry = "machine elsewhere.test login a password b\n"
    _ = try download("\(server.url)/x", netrc: entry + "default login any password one\n")
    _ = try download("\(server.url)/x", netrc: entry)
    _ = try download("\(server.url)/x")
    #expect(server.authorizations == [basic("any:one"), nil, nil])
  }

  @Test func `its permissions are not looked at, as in curl`() throws {
    let server = try server()
    let netrc = "machine 127.0.0.1 login me password hidden\n"
    _ = try download("\(server.url)/x", netrc: netrc, permissions: 0o644)
    #expect(server.authorizations == [basic("me:hidden")])
  }

  @Test(arguments: [
    "machine 127.0.0.1 login me password hidden\n",
    "machine 127.0.0.1 login me password hidden\ndefault login any password one\n",
    "machine 127.0.0.1 login me password hidden\nmachine localhost login b password c\n",
    "machine localhost\nmachine 127.0.0.1 login me password hidden\n",
  ])
  func `after a redirect to another host nothing of it is sent`(netrc: String) throws {
    let other = try server()
    let first = try redirecting(to: "http://localhost:\(other.port)/")
    let end = try download("\(first.url)/x", netrc: netrc).end
    #expect(end.status == 0, "\(end.errors)")
    #expect(first.authorizations == [basic("me:hidden")])
    #expect(other.authorizations == [nil])
  }

  @Test func `after a redirect within its host it is sent again`() throws {
    let first = try redirecting(to: "/there")
    let netrc = "machine 127.0.0.1 login me password hidden\n"
    _ = try download("\(first.url)/x", netrc: netrc)
    #expect(first.authorizations == [basic("me:hidden"), basic("me:hidden")])
  }

  @Test func `credentials of the URL go before it, to its host alone`() throws {
    let other = try server()
    let first = try redirecting(to: "http://localhost:\(other.port)/")
    let netrc = "machine 127.0.0.1 login other password one\n"
    let end = try download("http://me:p%40ss@127.0.0.1:\(first.port)/x", netrc: netrc).end
    #expect(end.status == 0, "\(end.errors)")
    #expect(first.authorizations == [basic("me:p@ss")])
    #expect(other.authorizations == [nil])
  }

  @Test(arguments: ["/there", "http://127.0.0.1:PORT/there"])
  func `they are sent again after a redirect within their host`(target: String) throws {
    let authorizations = try LoopbackServer { request, connection in
      let port = request.headers["host"]?.split(separator: ":").last ?? ""
      let place = target.replacing("PORT", with: port)
      if request.path == "/there" { return connection.answer() }
      connection.answer("302 Found", ["Location: \(place)"])
    }
    let end = try download("http://me:hidden@127.0.0.1:\(authorizations.port)/x").end
    #expect(end.status == 0, "\(end.errors)")
    #expect(authorizations.authorizations == [basic("me:hidden"), basic("me:hidden")])
  }

  @Test func `a name in the URL gets its password from the file`() throws {
    let server = try server()
    let netrc = """
      machine 127.0.0.1 login you password wrong
      machine 127.0.0.1 login me password hidden
      """
    _ = try download("http://me@127.0.0.1:\(server.port)/x", netrc: netrc)
    #expect(server.authorizations == [basic("me:hidden")])
  }

  @Test(arguments: ["200 OK", "401 Who Are You", "404 No"])
  func `they are never shown`(status: String) throws {
    let server = try server(status)
    let netrc = "machine 127.0.0.1 login me password hidden\n"
    let byFile = try download("\(server.url)/x", netrc: netrc)
    let byURL = try download("http://me:hidden@127.0.0.1:\(server.port)/x")
    #expect(server.authorizations == [basic("me:hidden"), basic("me:hidden")])
    for got in [byFile, byURL] {
      #expect(got.all.contains("127.0.0.1") || got.all.contains("SERVER"))
      #expect(!got.all.contains("hidden") && !got.all.contains(basic("me:hidden")))
    }
  }

  @Test(arguments: [
    "ftp://me:hidden@host/", "me:hidden@host", "http://me:hidden@/", "http://me:hidden@a b/",
  ])
  func `a wrong URL is told without them`(url: String) throws {
    let end = try Workspace().run("download", "--url=\(url)", "--to=x")
    #expect(end.status == 2)
    #expect(end.errors.hasPrefix("oprun-image: not a URL of http or https: "), "\(end.errors)")
    #expect(!end.errors.contains("hidden"))
    let wait = try Workspace().run("wait", "--http=\(url)", "--timeout=0s")
    #expect(!wait.errors.contains("hidden"))
  }

  @Test func `a redirect to a wrong place is told without them, and so is a wait`() throws {
    let server = try LoopbackServer { _, connection in
      connection.answer("302 Found", ["Location: ftp://me:hidden@host/x"])
    }
    let end = try download("\(server.url)/x").end
    #expect(
      end.errors == "failed: http://SERVER/x: redirects to 'ftp://host/x', wanted: http or https\n")
    let closed = try LoopbackServer { _, _ in }.port
    let wait = try Workspace().run(
      "wait", "--http=http://me:hidden@127.0.0.1:\(closed)/", "--timeout=0s")
    #expect(wait.errors.contains("http 'http://SERVER/': "), "\(wait.errors)")
  }

  @Test func `what stands before a host is taken out of any text`() {
    #expect(
      withoutCredentials("in 'http://me:hidden@a/b@c?d@e' and x@y") == "in 'http://a/b@c?d@e' and y"
    )
    #expect(withoutCredentials("me:hidden@proxy:3128") == "proxy:3128")
    #expect(withoutCredentials("socks5://a@b@c") == "socks5://c")
    #expect(withoutCredentials("no URL, not /a/@b") == "no URL, not /a/@b")
  }
}
