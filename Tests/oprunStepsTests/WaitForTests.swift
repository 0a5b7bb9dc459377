// `wait_for` of a pipeline, through `oprun` itself, with servers that become ready.

import Foundation
import TestSupport
import Testing

@testable import oprun_steps

/// Runs a pipeline in its workspace.
private func run(
  _ pipeline: String, in workspace: Workspace, _ environment: [String: String] = [:]
) throws -> ProgramEnd {
  try workspace.write(pipeline, to: "pipeline.yml")
  return try workspace.start(
    program: "oprun", words: ["run", "pipeline.yml"], environment: environment
  ).wait()
}

@Suite(.blocking) struct WaitForTests {
  @Test func `a step waits for a server that is not ready at first, and holds no place`() throws {
    let workspace = try Workspace()
    let server = try LoopbackServer { request, connection in
      // It is ready only when the other step has run, which uses the only slot.
      let isReady = workspace.exists("other") && request.number >= 2
      connection.answer(isReady ? "200 OK" : "503 Starting")
    }
    let end = try run(
      """
      max_parallel: 1
      steps:
        - id: waits
          wait_for: [{http: "\(server.url)/health", every: 10ms, timeout: 10m}]
          run: test -e other
        - {id: other, run: touch other}
      """, in: workspace)
    #expect(end.status == 0, "\(end.errors)")
    #expect(end.errors.contains("… waits  waiting for http http://SERVER/health\n"))
    #expect(server.requests.count >= 3)
    #expect(Set(server.requests.map(\.method)) == ["GET"])
  }

  @Test func `a redirect is ready, an error is not`() throws {
    let workspace = try Workspace()
    let server = try LoopbackServer { request, connection in
      connection.answer(request.path == "/moved" ? "302 Found" : "404 Not Found")
    }
    let end = try run(
      """
      steps:
        - {id: ready, wait_for: [{http: "\(server.url)/moved", timeout: 10m}], run: touch ready}
        - {id: never, wait_for: [{http: "\(server.url)/x", every: 200ms, timeout: 3s}], run: touch never}
        - {id: behind, depends_on: [never], run: touch behind}
      """, in: workspace)
    #expect(end.status == 1)
    #expect(
      end.errors.contains(
        "✗ never  timed out waiting for http http://SERVER/x: answers 404\n"))
    #expect(end.errors.contains("- behind  blocked: 'never' timed out"))
    #expect(workspace.exists("ready") && !workspace.exists("never") && !workspace.exists("behind"))
  }

  @Test func `all conditions are waited for, one after the other`() throws {
    let workspace = try Workspace()
    let server = try LoopbackServer { _, connection in connection.answer() }
    let end = try run(
      """
      steps:
        - id: waits
          wait_for:
            - {file: made, every: 10ms, timeout: 10m}
            - {tcp: "127.0.0.1:\(server.port)", every: 10ms, timeout: 10m}
            - {http: "\(server.url)/", every: 10ms, timeout: 10m}
          run: cat made
        - {id: makes, run: echo here >made}
      """, in: workspace)
    #expect(end.status == 0, "\(end.errors)")
    #expect(end.output.contains("here"))
  }

  @Test func `a port on which nobody listens is waited for in vain`() throws {
    let closed = try ClosedPort()
    // On a slow machine the limit can come before the first look is over.
    let isTold = try once(within: ["3s", "30s", "300s"]) { limit in
      let end = try run(
        """
        steps:
          - {id: a, wait_for: [{tcp: "127.0.0.1:\(closed.number)", every: 200ms, timeout: \(limit)}], run: echo}
        """, in: Workspace())
      #expect(end.status == 1)
      return end.errors.contains("✗ a  timed out waiting for tcp SERVER: connection refused\n")
    }
    #expect(isTold)
  }

  @Test func `a server with TLS is believed as in downloads`() throws {
    let authority = try Authority()
    let nginx = try Nginx([authority.server(named: "localhost")], in: authority.workspace)
    try nginx.workspace.write("ready", to: "files/health")
    let pipeline = """
      steps:
        - id: a
          wait_for: [{http: "https://localhost:\(nginx.ports[0])/health", every: 200ms, timeout: TIME}]
          run: echo ready
      """
    let trusted = try run(
      pipeline.replacing("TIME", with: "10m"), in: nginx.workspace,
      ["SSL_CERT_FILE": "authority.pem"])
    #expect(trusted.status == 0, "\(trusted.errors)")
    // On a slow machine the limit can come before the first look is over.
    let isRefused = try once(within: ["3s", "30s", "300s"]) { limit in
      let unknown = try run(pipeline.replacing("TIME", with: limit), in: nginx.workspace)
      #expect(unknown.status == 1)
      return unknown.errors.contains(
        "/health: the certificate of 'localhost' is refused: unable to get local issuer certificate"
      )
    }
    #expect(isRefused)
  }
}
