// Which way of showing a run is chosen if nobody chooses one.

import Foundation
import TestSupport
import Testing

@testable import Reporting

struct `The usual way of showing a run` {
  private let terminal: PseudoTerminal
  private let file: TemporaryFile
  private let pipe = Pipe()
  private let xterm = ["TERM": "xterm"]

  init() throws {
    terminal = try PseudoTerminal(columns: 80)
    file = try TemporaryFile()
  }

  private func mode(_ output: Int32, _ messages: Int32, _ environment: [String: String])
    -> OutputMode
  {
    .usual(output: output, messages: messages) { environment[$0] }
  }

  @Test func `is live on a terminal`() {
    #expect(mode(terminal.device, terminal.device, xterm) == .live)
  }

  @Test func `is live where output goes to a file`() throws {
    #expect(mode(file.descriptor, terminal.device, xterm) == .live)
    let null = open("/dev/null", O_WRONLY)
    defer { close(null) }
    #expect(mode(null, terminal.device, xterm) == .live)
  }

  @Test func `is grouped where a pipe may lead to the same terminal`() throws {
    let pipeEnd = pipe.fileHandleForWriting.fileDescriptor
    #expect(mode(pipeEnd, terminal.device, xterm) == .grouped)
    #expect(mode(try PseudoTerminal(columns: 80).device, terminal.device, xterm) == .grouped)
  }

  @Test func `is grouped elsewhere`() {
    #expect(mode(terminal.device, file.descriptor, xterm) == .grouped)
    #expect(mode(file.descriptor, file.descriptor, xterm) == .grouped)
  }

  @Test func `is grouped on a terminal that cannot move its cursor or has no size`() throws {
    #expect(mode(terminal.device, terminal.device, [:]) == .grouped)
    #expect(mode(terminal.device, terminal.device, ["TERM": "dumb"]) == .grouped)
    let unsized = try PseudoTerminal()
    #expect(mode(unsized.device, unsized.device, xterm) == .grouped)
  }

  @Test(arguments: [
    "CI", "GITHUB_ACTIONS", "GITLAB_CI", "BUILDKITE", "TEAMCITY_VERSION", "TF_BUILD",
  ])
  func `is grouped on a CI runner, which may give its jobs a terminal`(variable: String) {
    #expect(mode(terminal.device, terminal.device, ["TERM": "xterm", variable: "1"]) == .grouped)
    #expect(mode(terminal.device, terminal.device, ["TERM": "xterm", variable: ""]) == .live)
  }
}
