// The same downloads from a server that the world uses.

import Foundation
import TestSupport
import Testing

@testable import oprun_image

/// nginx in the foreground, in a folder of its own, on a port that was free a moment ago.
private final class Nginx {
  let workspace: Workspace
  let port: Int
  private let child: Child

  init() throws {
    workspace = try Workspace()
    port = try LoopbackServer { _, _ in }.port
    try workspace.write(
      """
      daemon off; master_process off; pid nginx.pid; error_log stderr crit;
      events {}
      http {
        log_format status '$status $connection';
        access_log access.log status;
        client_body_temp_path tmp; proxy_temp_path tmp; fastcgi_temp_path tmp;
        uwsgi_temp_path tmp; scgi_temp_path tmp;
        server {
          listen 127.0.0.1:\(port);
          root files;
          location /slow/ { alias \(workspace.path("files"))/; limit_rate 2m; limit_rate_after 1m; }
        }
      }
      """, to: "nginx.conf")
    let folder = quotedForShell(workspace.folder.path)
    child = try Child(
      script: """
        cd \(folder) && mkdir -p files
        exec </dev/null >nginx.out 2>&1
        PATH="$PATH:/usr/sbin" exec nginx -p \(folder) -c nginx.conf
        """)
    let ready = try workspace.run(
      "wait", "--tcp=127.0.0.1:\(port)", "--every=10ms", "--timeout=10s")
    try #require(ready.status == 0, "\(workspace.content("nginx.out"))")
  }

  deinit {
    kill(child.processID, SIGKILL)
    _ = child.wait()
  }

  var url: String { "http://127.0.0.1:\(port)" }

  /// Of each request its status and the number of its connection.
  private var log: [[Substring]] {
    workspace.content("access.log").split(separator: "\n").map { $0.split(separator: " ") }
  }

  var statuses: [String] { log.map { String($0[0]) } }

  var connectionCount: Int { Set(log.map { $0[1] }).count }
}

@Suite(.serialized) struct NginxTests {
  @Test func `a file is fetched, and the next time it has not changed`() throws {
    let nginx = try Nginx()
    try nginx.workspace.write("hello\n", to: "files/hello.txt")
    for _ in 1...2 {
      let end = try nginx.workspace.run(
        "download", "--url=\(nginx.url)/hello.txt", "--to=in/", "--allow-private")
      #expect(end.status == 0)
    }
    #expect(nginx.statuses == ["200", "304"])
    #expect(nginx.workspace.content("in/hello.txt") == "hello\n")
  }

  @Test func `what was cut off by a kill is gone on with`() throws {
    let nginx = try Nginx()
    let content = (0..<600_000).map { "\($0)\n" }.joined()
    try nginx.workspace.write(content, to: "files/large.txt")
    let words = [
      "download", "--url=\(nginx.url)/slow/large.txt", "--to=large.txt", "--allow-private",
    ]
    let first = try nginx.workspace.start(words: words)
    let part = nginx.workspace.path("large.txt.part")
    var status = stat()
    while stat(part, &status) != 0 || status.st_size < 1 << 20 { usleep(1000) }
    kill(first.processID, SIGKILL)
    _ = first.wait()
    let second = try nginx.workspace.run(words: words)
    #expect(second.status == 0)
    #expect(nginx.workspace.content("large.txt") == content)
    #expect(nginx.statuses.last == "206")
  }

  @Test func `a hundred files come over few connections`() throws {
    let nginx = try Nginx()
    for index in 1...100 { try nginx.workspace.write("\(index)", to: "files/\(index)") }
    let urls = (1...100).map { "\(nginx.url)/\($0)" }
    try nginx.workspace.write(urls.joined(separator: "\n"), to: "urls")
    let end = try nginx.workspace.run(
      "download", "--list=urls", "--to=in/", "--allow-private")
    #expect(end.output == "100 files, 192 B received in TIME\n", "\(end.errors)")
    let all = (1...100).map { nginx.workspace.content("in/\($0)") }
    #expect(all == (1...100).map(String.init))
    #expect(nginx.statuses.count == 100)
    #expect(nginx.connectionCount <= 6)
  }
}
