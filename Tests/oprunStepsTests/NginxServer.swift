// A widely used server, for tests that need a real one: TLS, HTTP/2, many connections.

import Foundation
import TestSupport
import Testing

@testable import oprun_steps

/// nginx in the foreground, in its own folder, on ports that the kernel has chosen.
final class Nginx {
  /// One request, as nginx saw it.
  struct Entry: Hashable {
    let status: String
    /// `HTTP/1.1`, `HTTP/2.0`.
    let version: String
    let connection: String
  }

  let workspace: Workspace
  let ports: [Int]
  private let child: Child

  /// Starts servers, each with the contents of its block, in which `PORT` is its own port. Files
  /// come from the folder `files`.
  init(_ servers: [String] = ["listen 127.0.0.1:PORT;"], in workspace: Workspace? = nil) throws {
    let workspace = try workspace ?? Workspace()
    self.workspace = workspace
    let blocks = servers.enumerated().map { index, block in
      "server { root files; \(block.replacing("PORT", with: "PORT-\(index)-")) }"
    }
    try workspace.write(Self.configuration(blocks.joined(separator: "\n")), to: "nginx.conf")
    try workspace.write(Self.launcher, to: "nginx.py")
    let folder = quotedForShell(workspace.folder.path)
    child = try Child(
      script: """
        cd \(folder) && mkdir -p files
        exec </dev/null >nginx.out 2>&1
        PATH="$PATH:/usr/sbin" exec python3 -S nginx.py \(folder) \(servers.count)
        """)
    let ready = try workspace.run("wait", "--file=ports", "--every=5ms", "--timeout=2m")
    try #require(ready.status == 0, "\(workspace.content("nginx.out"))")
    ports = workspace.content("ports").split(separator: " ").compactMap { Int($0) }
  }

  deinit {
    kill(-child.processID, SIGKILL)
    _ = child.wait()
  }

  var url: String { "http://127.0.0.1:\(ports[0])" }

  /// What was asked for so far. An entry is written a moment after the answer was sent, so it is waited
  /// for until there are as many as expected.
  func entries(_ count: Int) -> [Entry] {
    let deadline = ContinuousClock.now + .seconds(120)
    while true {
      let lines = workspace.content("access.log").split(separator: "\n")
      guard lines.count < count, ContinuousClock.now < deadline else {
        return lines.map { line in
          let words = line.split(separator: " ").map(String.init)
          return Entry(status: words[0], version: words[1], connection: words[2])
        }
      }
      usleep(2000)
    }
  }

  /// A proxy whose tunnels all lead here.
  func tunnel() throws -> LoopbackServer {
    try LoopbackServer { [port = ports[0]] _, connection in connection.tunnel(to: port) }
  }

  private static func configuration(_ servers: String) -> String {
    """
    daemon off; worker_processes 1; user root; pid nginx.pid; error_log stderr crit;
    events {}
    http {
      log_format entry '$status $server_protocol $connection';
      access_log access.log entry;
      client_body_temp_path tmp; proxy_temp_path tmp; fastcgi_temp_path tmp;
      uwsgi_temp_path tmp; scgi_temp_path tmp;
      \(servers)
    }
    """
  }

  /// nginx cannot be told to take any port, but it takes over listening sockets, as in an upgrade.
  private static let launcher = """
    import os, socket, sys
    folder, count = sys.argv[1], int(sys.argv[2])
    sockets = [socket.create_server(("127.0.0.1", 0), backlog=511) for _ in range(count)]
    ports = [str(one.getsockname()[1]) for one in sockets]
    text = open("nginx.conf").read()
    for index, port in enumerate(ports):
        text = text.replace(f"PORT-{index}-", port)
    open("nginx.conf", "w").write(text)
    for one in sockets:
        os.set_inheritable(one.fileno(), True)
    os.environ["NGINX"] = "".join(f"{one.fileno()};" for one in sockets)
    open("ports.new", "w").write(" ".join(ports))
    os.rename("ports.new", "ports")
    os.execvp("nginx", ["nginx", "-p", folder, "-c", "nginx.conf"])
    """
}
