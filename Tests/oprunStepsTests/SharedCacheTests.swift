// A shared cache on a widely used server: two machines are two states of one workspace.

import Foundation
import TestSupport
import Testing

@testable import oprun_steps

/// A server that takes files, as the documentation shows it.
let sharedCacheServer = """
  listen 127.0.0.1:PORT; client_max_body_size 0;
  location / { dav_methods PUT; create_full_put_path on; }
  """

/// A workspace with a step that is cached, and the runs of oprun in it.
struct SharingMachine {
  let workspace: Workspace

  init(_ workspace: Workspace, more: String = "") throws {
    self.workspace = workspace
    try workspace.write("1\n", to: "in")
    try workspace.write(
      """
      \(more)
      steps:
        - id: make
          run: |
            echo ran >>ran
            echo said
            mkdir -p out/deep; cp in out/deep/copy; : >out/empty; ln -sf deep/copy out/link
            printf '#!/bin/sh\\necho hello\\n' >out/run; chmod 755 out/run
            echo size=7 >>$OPRUN_OUTPUT
          outputs: {size: int}
          cache: {enforce: false, inputs: [in], outputs: [out]}
        - {id: use, depends_on: [make], run: 'echo "${{ steps.make.outputs.size }}" >used'}
      """, to: "pipeline.yml")
  }

  func run(_ words: String..., environment: [String: String] = [:]) throws -> ProgramEnd {
    try workspace.start(
      program: "oprun", words: ["run", "pipeline.yml", "--output=grouped"] + words,
      environment: environment
    ).wait()
  }

  /// Forgets everything that was done here.
  func becomeAnother() throws {
    for name in [".oprun", "out", "used"] {
      try? FileManager.default.removeItem(atPath: workspace.path(name))
    }
  }

  var runCount: Int { workspace.content("ran").split(separator: "\n").count }

  /// What the step has made.
  var made: [String] {
    let names = workspace.files.filter { $0.hasPrefix("out/") || $0 == "used" }
    return names.map { name in
      let isProgram = FileManager.default.isExecutableFile(atPath: workspace.path(name))
      let link = try? FileManager.default.destinationOfSymbolicLink(atPath: workspace.path(name))
      return "\(name)\(isProgram ? "*" : "") \(link.map { "-> \($0)" } ?? workspace.content(name))"
    }
  }

  static let wanted = [
    "out/deep/copy 1\n", "out/empty ", "out/link -> deep/copy",
    "out/run* #!/bin/sh\necho hello\n", "used 7\n",
  ]
}

extension ProgramEnd {
  /// The notices of a run.
  var notices: [String] {
    (output + errors).split(separator: "\n").filter { $0.hasPrefix("! ") || $0.hasPrefix("oprun:") }
      .map(String.init)
  }
}

@Suite(.blocking) struct SharedCacheTests {
  @Test func `what one machine has made is not made on another`() throws {
    let nginx = try Nginx([sharedCacheServer])
    let machine = try SharingMachine(nginx.workspace, more: "cache_url: \(nginx.url)/team/")
    let first = try machine.run()
    #expect(first.status == 0, "\(first.errors)")
    #expect(first.notices == [])
    #expect(machine.made == SharingMachine.wanted)
    try machine.becomeAnother()
    let second = try machine.run()
    #expect(second.errors.contains("= make  up to date"), "\(second.errors)")
    #expect(second.notices == [])
    #expect(machine.made == SharingMachine.wanted)
    #expect(machine.runCount == 1)
    // Three contents and the log, each asked for and sent once; the result last. The step is not confined, so its result
    // is asked for by two keys.
    let stored = nginx.workspace.files.filter { $0.hasPrefix("files/team/") }
    #expect(stored.count { $0.hasPrefix("files/team/cas/") } == 4)
    #expect(stored.count { $0.hasPrefix("files/team/ac/") } == 1)
    #expect(
      nginx.entries(16).map(\.status).sorted()
        == [[String](repeating: "200", count: 5), .init(repeating: "201", count: 5)].flatMap { $0 }
        + .init(repeating: "404", count: 6))
    // What is there is not sent again, and what is up to date asks nobody.
    let third = try machine.run()
    #expect(third.errors.contains("= make  up to date"))
    #expect(nginx.entries(16).count == 16)
  }

  @Test func `contents that the server has damaged are replaced by who finds the damage`() throws {
    let nginx = try Nginx([sharedCacheServer])
    let machine = try SharingMachine(nginx.workspace, more: "cache_url: \(nginx.url)")
    _ = try machine.run()
    for name in nginx.workspace.files where name.hasPrefix("files/cas/") {
      let size = nginx.workspace.content(name).utf8.count
      try nginx.workspace.write(String(repeating: "x", count: size), to: name)
    }
    try machine.becomeAnother()
    let second = try machine.run()
    #expect(second.notices.count == 1, "\(second.notices)")
    #expect(machine.runCount == 2)
    try machine.becomeAnother()
    let third = try machine.run()
    #expect(third.errors.contains("= make  up to date"), "\(third.errors)")
    #expect(third.notices == [])
    #expect(machine.made == SharingMachine.wanted)
  }

  @Test func `who may only read stores nothing, and finds what others store`() throws {
    let nginx = try Nginx([sharedCacheServer])
    let machine = try SharingMachine(nginx.workspace, more: "cache_url: \(nginx.url)")
    let reading = ["OPRUN_SHARED_CACHE": "read"]
    #expect(try machine.run(environment: reading).status == 0)
    #expect(nginx.workspace.files.filter { $0.hasPrefix("files/") } == [])
    try machine.becomeAnother()
    #expect(try machine.run().status == 0)
    try machine.becomeAnother()
    #expect(try machine.run(environment: reading).errors.contains("= make  up to date"))
    #expect(machine.runCount == 2)
    try machine.becomeAnother()
    #expect(try machine.run("--shared-cache=off").status == 0)
    try machine.becomeAnother()
    #expect(try machine.run("--no-cache").status == 0)
    #expect(machine.runCount == 4)
    #expect(machine.made == SharingMachine.wanted)
  }

  @Test func `a step that another machine has changed is not taken for this one`() throws {
    let nginx = try Nginx([sharedCacheServer])
    let machine = try SharingMachine(nginx.workspace, more: "cache_url: \(nginx.url)")
    #expect(try machine.run().status == 0)
    try machine.becomeAnother()
    try nginx.workspace.write("2\n", to: "in")
    #expect(try machine.run().status == 0)
    #expect(nginx.workspace.content("out/deep/copy") == "2\n")
    try machine.becomeAnother()
    try nginx.workspace.write("1\n", to: "in")
    #expect(try machine.run().status == 0)
    #expect(machine.made == SharingMachine.wanted)
    #expect(machine.runCount == 2)
  }

  @Test(arguments: ["netrc", "password", "token"])
  func `it is reached over TLS, with what gives access`(_ way: String) throws {
    let authority = try Authority()
    let guarding =
      way == "token"
      ? "if ($http_authorization != \"Bearer t0k3n-of-test\") { return 403; }"
      : "auth_basic cache; auth_basic_user_file users;"
    let server = try authority.server(named: "localhost", more: "http2")
    let nginx = try Nginx(
      [server + guarding + sharedCacheServer.replacing("listen 127.0.0.1:PORT;", with: "")],
      in: authority.workspace)
    try nginx.workspace.write("builder:{PLAIN}pa55-of-test\n", to: "users")
    try nginx.workspace.write(
      way == "netrc" ? "machine localhost login builder password pa55-of-test\n" : "",
      to: ".netrc")
    let machine = try SharingMachine(
      nginx.workspace,
      more: "cache_url: https://localhost:\(nginx.ports[0])"
        + (way == "netrc" ? "" : "\ncache_secret: KEY\nsecrets: [{name: KEY}]"))
    let access = [
      "SSL_CERT_FILE": "authority.pem",
      "KEY": way == "token" ? "t0k3n-of-test" : "builder:pa55-of-test",
    ]
    let first = try machine.run(environment: access)
    #expect(first.status == 0, "\(first.errors)")
    #expect(first.notices == [])
    try machine.becomeAnother()
    let second = try machine.run(environment: access)
    #expect(second.errors.contains("= make  up to date"), "\(second.errors)")
    #expect(machine.made == SharingMachine.wanted)
    #expect(machine.runCount == 1)
    for name in nginx.workspace.files where name.hasPrefix(".oprun/") {
      #expect(!nginx.workspace.content(name).contains("of-test"), "\(name)")
    }
  }

  @Test func `who is not let in says so once, and runs`() throws {
    let authority = try Authority()
    let server = try authority.server(named: "localhost")
    let nginx = try Nginx(
      [server + "auth_basic cache; auth_basic_user_file users;"], in: authority.workspace)
    try nginx.workspace.write("builder:{PLAIN}secret\n", to: "users")
    let url = "https://localhost:\(nginx.ports[0])"
    let machine = try SharingMachine(nginx.workspace, more: "cache_url: \(url)")
    let refused = try machine.run(environment: ["SSL_CERT_FILE": "authority.pem"])
    #expect(refused.status == 0)
    #expect(
      refused.notices == ["! shared cache '\(url)': answers 401 (unauthorized)"])
    try machine.becomeAnother()
    let distrusted = try machine.run()
    #expect(distrusted.status == 0)
    #expect(
      distrusted.notices == [
        "! shared cache '\(url)': the certificate of 'localhost' is refused: "
          + "unable to get local issuer certificate; SSL_CERT_FILE can name a file with its authority"
      ])
    #expect(machine.made == SharingMachine.wanted)
    #expect(machine.runCount == 2)
  }

  @Test func `a server that takes nothing can be read`() throws {
    let nginx = try Nginx([sharedCacheServer, "listen 127.0.0.1:PORT;"])
    let machine = try SharingMachine(nginx.workspace)
    #expect(try machine.run("--cache-url=\(nginx.url)").status == 0)
    try machine.becomeAnother()
    let other = "http://127.0.0.1:\(nginx.ports[1])"
    #expect(try machine.run("--cache-url=\(other)").errors.contains("= make  up to date"))
    try machine.becomeAnother()
    try nginx.workspace.write("2\n", to: "in")
    let end = try machine.run("--cache-url=\(other)")
    #expect(end.status == 0)
    // The server may answer before the last step has ended, or after the run.
    let notice = "shared cache 'http://SERVER': takes no results: answers 405"
    #expect([["! " + notice], ["oprun: " + notice]].contains(end.notices))
    #expect(machine.runCount == 2)
  }

  @Test func `a server that is not there is told once, and then left alone`() throws {
    let workspace = try Workspace()
    try workspace.write(
      """
      cache_url: http://127.0.0.1:9
      max_parallel: 1
      steps:
        - id: make
          matrix: {n: [1, 2, 3, 4, 5, 6, 7, 8]}
          run: echo ${{ matrix.n }} >out-${{ matrix.n }}
          cache: {enforce: false, inputs: [], outputs: ["out-${{ matrix.n }}"]}
      """, to: "pipeline.yml")
    let end = try workspace.start(program: "oprun", words: ["run", "pipeline.yml"]).wait()
    #expect(end.status == 0)
    #expect(
      end.notices.map { $0.prefix(59) }
        == ["! shared cache 'http://SERVER': failed to connect to 127.0."], "\(end.errors)")
    #expect(workspace.files.filter { $0.hasPrefix("out-") }.count == 8)
  }

  @Test func `a result that no other machine would take is not sent`() throws {
    let workspace = try Workspace()
    let server = try LoopbackServer { request, connection in
      guard request.method == "PUT" else { return connection.answer("404 Not Found") }
      connection.skip(request.headers["content-length"].flatMap { Int($0) } ?? 0)
      connection.answer("201 Created")
    }
    try workspace.write(
      """
      steps:
        - {id: s, run: echo 1 >out; chmod 4755 out, cache: {enforce: false, inputs: [], outputs: [out]}}
      """, to: "pipeline.yml")
    let end = try workspace.start(
      program: "oprun", words: ["run", "pipeline.yml", "--cache-url=\(server.url)"]
    ).wait()
    #expect(end.status == 0)
    #expect(end.notices == [], "\(end.errors)")
    #expect(server.requests.filter { $0.method == "PUT" }.isEmpty)
    #expect(!server.requests.isEmpty)
  }

  @Test func `storing holds up nothing, and is finished before the end`() throws {
    let workspace = try Workspace()
    try workspace.write("1\n", to: "in")
    let done = workspace.path("done")
    let server = try LoopbackServer { request, connection in
      guard request.method == "PUT" else { return connection.answer("404 Not Found") }
      let size = request.headers["content-length"].flatMap { Int($0) } ?? 0
      // Nothing is taken before the step that depends on it has run.
      while !FileManager.default.fileExists(atPath: done) { usleep(2000) }
      connection.skip(size)
      connection.answer("201 Created")
    }
    try workspace.write(
      """
      steps:
        - {id: make, run: cp in out, cache: {enforce: false, inputs: [in], outputs: [out]}}
        - {id: use, depends_on: [make], run: touch done}
      """, to: "pipeline.yml")
    let end = try workspace.start(
      program: "oprun", words: ["run", "pipeline.yml", "--cache-url=\(server.url)"]
    ).wait()
    #expect(end.status == 0)
    #expect(end.notices == [], "\(end.errors)")
    #expect(server.requests.map(\.method).filter { $0 == "PUT" }.count == 2)
    #expect(server.requests.last?.path.hasPrefix("/ac/") == true)
  }
}
