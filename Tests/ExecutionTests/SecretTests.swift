// Secrets are read before a run, and no event contains one.

import Foundation
import Plans
import Scheduling
import TestSupport
import Testing

@testable import Execution

@Suite(.blocking) struct SecretTests {
  private func read(
    _ sources: [SecretSource], _ variables: [String: String] = [:]
  ) -> Result<Secrets, SecretFailure> {
    do throws(SecretFailure) {
      let reading = SecretReading(sources) { variables[$0].map { Array($0.utf8) } }
      return .success(try reading.complete())
    } catch {
      return .failure(error)
    }
  }

  @Test func `a value is that of the variable, or the file without its last line break`() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "secret-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: path) }
    for (content, value) in [
      ("one line", "one line"), ("one line\n", "one line"), ("one line\r\n", "one line"),
      ("two\nlines\n\n", "two\nlines\n"), ("  blanks  \n", "  blanks  "), ("ends\r", "ends\r"),
    ] {
      try Data(content.utf8).write(to: path)
      let sources = [
        SecretSource(name: "file", location: .file(path.path)),
        SecretSource(name: "TOKEN", location: .environment),
      ]
      let secrets = try read(sources, ["TOKEN": "va lue\n"]).get()
      #expect(secrets["file"] == value)
      #expect(secrets["TOKEN"] == "va lue\n")
      #expect(secrets["other"] == nil)
    }
  }

  @Test func `64 KiB are allowed, and 128 KiB together`() throws {
    let sources = (0..<3).map { SecretSource(name: "S\($0)", location: .environment) }
    let large = String(repeating: "x", count: 64 << 10)
    let fits = ["S0": large, "S1": large]
    #expect(throws: Never.self) {
      try read(sources.dropLast(), fits).get()
    }
    #expect(throws: SecretFailure.self) {
      try read(sources, fits.merging(["S2": "12345"]) { $1 }).get()
    }
    #expect(
      read([sources[0]], ["S0": large + "x"]).failure?.faults.map(\.message) == [
        "secret 'S0' is larger than 64 KiB, which is the limit"
      ])
  }

  @Test func `without secrets there is no masker`() throws {
    #expect(Secrets.none.masker == nil)
    let source = SecretSource(name: "A", location: .environment, isRequired: false)
    #expect(try read([source]).get().masker == nil)
  }

  @Test func `no text of any event holds a secret`() throws {
    let masker = try #require(Secrets(["A": "hunter22"]).masker)
    let end = CommandEnd(.notStarted("no hunter22", exitCode: 127), duration: 5, outputByteCount: 3)
    let refused = CommandEnd(.outputsRefused("no hunter22"))
    let operation = OperationID(3)
    let reason = StopReason.stateFailure("no hunter22")
    let events: [(RunEvent.Kind, RunEvent.Kind)] = [
      (.notice("no hunter22"), .notice("no ***")),
      (.resolved(operation, command: "hunter22"), .resolved(operation, command: "***")),
      (.waiting(operation, "for hunter22"), .waiting(operation, "for ***")),
      (
        .appended(operation, id: "a[b=hunter22]", group: operation, isGroup: true),
        .appended(operation, id: "a[b=***]", group: operation, isGroup: true)
      ),
      (
        .ended(operation, .attempt(1), end),
        .ended(
          operation, .attempt(1),
          CommandEnd(.notStarted("no ***", exitCode: 127), duration: 5, outputByteCount: 3))
      ),
      (
        .ended(operation, .attempt(1), refused),
        .ended(operation, .attempt(1), CommandEnd(.outputsRefused("no ***")))
      ),
      (
        .published(
          operation,
          [
            PublishedOutput(name: "a", json: "\"hunter22\""), PublishedOutput(name: "b", json: "1"),
          ]),
        .published(
          operation,
          [
            PublishedOutput(name: "a", json: "\"***\"", isMasked: true),
            PublishedOutput(name: "b", json: "1"),
          ])
      ),
      (
        .orphansFound(
          operation, processes: [OrphanProcess(processID: 5, name: "hunter22")], action: .kill),
        .orphansFound(
          operation, processes: [OrphanProcess(processID: 5, name: "***")], action: .kill)
      ),
      (
        .settled(operation, Ending(.skipped), .condition("hunter22 == 'x'")),
        .settled(operation, Ending(.skipped), .condition("*** == 'x'"))
      ),
      (
        .settled(operation, Ending(.cancelled), .stopped(reason)),
        .settled(operation, Ending(.cancelled), .stopped(.stateFailure("no ***")))
      ),
      (.stopping(reason), .stopping(.stateFailure("no ***"))),
      (
        .finished(RunEnd(exitStatus: 74, stopReason: reason)),
        .finished(RunEnd(exitStatus: 74, stopReason: .stateFailure("no ***")))
      ),
      (
        .outputGrew(operation, .attempt(2), byteCount: 5),
        .outputGrew(operation, .attempt(2), byteCount: 5)
      ),
    ]
    for (event, wanted) in events { #expect(event.masked(by: masker) == wanted) }
  }
}

extension Result {
  fileprivate var failure: Failure? {
    if case .failure(let failure) = self { failure } else { nil }
  }
}
