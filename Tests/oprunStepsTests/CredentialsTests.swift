// Names and passwords: from `.netrc` as curl users expect, and from URLs. Which hosts get them, and
// that they are never shown.

import Diagnostics
import Foundation
import TestSupport
import Testing

@testable import oprun_steps

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

@Suite(.blocking) struct CredentialsTests {
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
    let start = "oprun-steps: '--url' wants a URL of http or https, found "
    #expect(end.errors.hasPrefix(start), "\(end.errors)")
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
    let closed = try ClosedPort()
    let wait = try Workspace().run(
      "wait", "--http=http://me:hidden@127.0.0.1:\(closed.number)/", "--timeout=0s")
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

  @Test(arguments: [
    ("http://a/b?c=d&page=2;size=large#top", "http://a/b?c=d&page=2;size=large#top"),
    (
      "https://b.s3.test/x?X-Amz-Credential=AKIA%2Fus&X-Amz-Date=20260102T030405Z&X-Amz-Signature=0a",
      "https://b.s3.test/x?X-Amz-Credential=***&X-Amz-Date=20260102T030405Z&X-Amz-Signature=***"
    ),
    ("https://a/?sv=2024-01-01&sig=x%2By", "https://a/?sv=2024-01-01&sig=***"),
    (
      "a:80/?access_token=x&Key-Pair-Id=y&keyboard=z",
      "a:80/?access_token=***&Key-Pair-Id=***&keyboard=z"
    ),
    ("http://a/?apiKey=x&authKey=y&monkey=z", "http://a/?apiKey=***&authKey=***&monkey=z"),
    ("http://a/?v=0123456789abcdef0123", "http://a/?v=***"),
    ("http://a/?id=0123456789012345678", "http://a/?id=0123456789012345678"),
    ("http://a/?0123456789abcdef0123", "http://a/?***"),
    ("http://a/?u=https%3A%2F%2Fme%3Apw%40b%2F&w=3", "http://a/?u=***&w=3"),
    ("http://a/#access_token=x&state=y", "http://a/#access_token=***&state=y"),
    ("http://a?token=x?y#z", "http://a?token=***?y#z"),
    ("http://a/?token=", "http://a/?token="),
    ("http://me:hid/den@host/x", "http://host/x"),
    ("http://me:hid?d#en@host/x", "http://host/x"),
    ("http://me:hid'den@host/x", "http://host/x"),
    ("http://me:hidden", "http://me:***"),
    ("http://[::1]:80/?pin=1", "http://[::1]:80/?pin=***"),
    ("http://a:80/?pin=1", "http://a:80/?pin=***"),
  ])
  func `a URL is readable but for what gives access`(url: String, shown: String) {
    #expect(shownURL(url) == shown)
    #expect(withoutCredentials("'\(url)'") == "'\(shown)'" || url.contains("'"))
  }

  @Test func `signatures are in no message, table, manifest or output`() throws {
    let server = try server("404 No")
    let got = try download("\(server.url)/x?X-Amz-Signature=hidden&v=2")
    #expect(
      got.all.contains("failed: http://SERVER/x?X-Amz-Signature=***&v=2: answers 404 (not found)\n")
    )
    #expect(got.all.split(separator: "X-Amz-Signature=***&v=2").count == 5, "\(got.all)")
    #expect(!got.all.contains("hidden"))
    #expect(server.requests.map(\.path) == ["/x?X-Amz-Signature=hidden&v=2"])
  }

  @Test(arguments: [
    ["download", "--headers=Authorization hidden"], ["download", "--headers=A b hidden: x"],
    ["download", "http://me:hidden@host/"], ["download", "--with-env=http://me:hidden@host/"],
    ["download", "--with-env=headers=Authorization: hidden"],
    ["download", "--url=http://a/", "--to=x", "--allow=http://me:hidden@host"],
    ["wait", "--tcp=me:hidden@host"], ["wait", "--tcp=http://host/?token=hidden"],
  ])
  func `a wrong command line is told without them`(words: [String]) throws {
    let end = try Workspace().run(words: words)
    #expect(end.status == 2)
    #expect(
      end.errors.hasPrefix("oprun-steps: ") && !end.errors.contains("hidden"), "\(end.errors)")
  }

  /// The command of a step in all that prints one.
  @Test(arguments: [
    ["run"], ["run", "--dry-run", "--verbose"], ["graph", "--format", "json"], ["list"],
    ["list", "--json"], ["run", "--events", "-"],
  ])
  func `the command of a built-in step is shown without them`(words: [String]) throws {
    let workspace = try Workspace()
    try workspace.write(
      """
      params: {late: {type: string, default: x}}
      steps:
        - id: get
          uses: download
          with:
            url: http://anna:hidden@127.0.0.1:1/x?sig=hidden&v=2
            headers: {Authorization: Bearer hidden, Accept: "image/*"}
            proxy: http://me:hidden@127.0.0.1:1
            allow: [127.0.0.1:1]
            retries: 0
            to: in/
          wait_for: [{command: "true"}]
        - id: look
          uses: wait
          with: {http: "http://me:hidden@127.0.0.1:1/?token=hidden", timeout: 0s}
      """, to: "pipeline.yml")
    let end = try workspace.start(program: "oprun", words: words + ["pipeline.yml"]).wait()
    let all = end.output + end.errors
    #expect(all.contains("?sig=***&v=2") || words.contains("--events"), "\(all)")
    #expect(!all.contains("hidden"), "\(all)")
    #expect(!all.contains("Authorization") || all.contains("'--headers=Authorization: ***'"))
  }

  @Test func `a wrong value in a pipeline is told without them`() throws {
    let workspace = try Workspace()
    try workspace.write(
      """
      steps:
        - id: a
          uses: download
          with: {url: "http://a/", headers: "Authorization: hidden", to: x}
        - id: b
          uses: download
          with: {url: "http://a/", headers: {Authorization: [hidden]}, to: x}
      """, to: "pipeline.yml")
    let end = try workspace.start(program: "oprun", words: ["validate", "pipeline.yml"]).wait()
    #expect(
      end.output.contains("'headers' must be a map of names to strings, not a string"),
      "\(end.output)"
    )
    // The lines of the file are the user's own; the messages are ours.
    let messages = end.output.split(separator: "\n").filter { $0.contains(": error: ") }
    #expect(messages.count == 2 && !messages.contains { $0.contains("hidden") }, "\(end.output)")
  }
}
