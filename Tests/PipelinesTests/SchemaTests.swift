// The JSON schema: the file is what the tables say, and it agrees with the decoder.
//
// OPRUN_BLESS=1 writes schema/pipeline.schema.json anew.

import Foundation
import Pipelines
import TestSupport
import Testing

@Suite(.blocking) struct SchemaTests {
  private let file = repository.appending(path: "schema/pipeline.schema.json")

  @Test func `the file is what the tables say`() throws {
    if ProcessInfo.processInfo.environment["OPRUN_BLESS"] == "1" {
      try pipelineSchema.write(to: file, atomically: false, encoding: .utf8)
    }
    let written = try String(contentsOf: file, encoding: .utf8)
    let isCurrent = written == pipelineSchema
    #expect(isCurrent, "`oprun schema >schema/pipeline.schema.json` writes it anew")
  }

  @Test func `every example and every default of the tables is in the schema`() {
    let schema = pipelineSchema
    for kind in ObjectKind.allCases {
      for row in kind.rows {
        #expect(schema.contains("\"\(row.key)\": {"), "\(kind.rawValue) \(row.key)")
        #expect(row.hasSample, "\(kind.rawValue) \(row.key) has neither an example nor a default")
      }
    }
  }

  @Test func `there are at least a hundred accepted and a hundred refused files`() {
    #expect(SchemaCorpus.accepted.count >= 100)
    #expect(SchemaCorpus.refused.filter { !shapeFaults(of: $0).isEmpty }.count >= 100)
  }

  @Test func `files of the corpus are accepted and refused as their folder says`() {
    for sample in SchemaCorpus.accepted { #expect(messages(sample.text) == [], "\(sample.name)") }
    for sample in SchemaCorpus.refused { #expect(messages(sample.text) != [], "\(sample.name)") }
  }

  @Test func `the schema and the decoder agree on every file`() throws {
    let samples =
      SchemaCorpus.accepted + SchemaCorpus.refused + SchemaCorpus.acceptedExamples
      + SchemaCorpus.refusedExamples + SchemaCorpus.rowExamples + SchemaCorpus.probes
      + SchemaCorpus.inputProbes + SchemaCorpus.combinations
      + SchemaCorpus.others
    for (sample, verdict) in zip(samples, try verdicts(on: samples)) {
      let faults = shapeFaults(of: sample)
      // Both refuse a name that no step can have, one of them because there is no such step.
      let isAgreed = verdict == nil ? faults.isEmpty : !messages(sample.text).isEmpty
      // A spelling that the schema knows after all must leave the list.
      let isExpected = isAgreed != BeyondSchema.covers(sample)
      #expect(isExpected, "\(sample.name)\ndecoder: \(faults)\nschema: \(verdict ?? "accepts")")
    }
  }

  @Test func `examples of the tables are accepted`() {
    for sample in SchemaCorpus.rowExamples {
      #expect(shapeFaults(of: sample) == [], "\(sample.name)")
    }
  }

  /// What the decoder reports about a file, except what a schema cannot know.
  private func shapeFaults(of sample: SchemaSample) -> [String] {
    messages(sample.text).filter { !BeyondSchema.covers($0) }
  }

  /// The verdict of the schema on each: nil, or why it refuses it.
  private func verdicts(on samples: [SchemaSample]) throws -> [String?] {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "oprun-schema-\(UUID().uuidString)", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try JSONEncoder().encode(samples.map(\.text)).write(to: folder.appending(path: "texts"))
    let script = repository.appending(path: "Tests/Schema/verdicts.py").path
    let status = try Child(
      script: """
        cd '\(folder.path)' && exec timeout --kill-after=5 100 /usr/bin/python3 -W ignore \
          '\(script)' '\(file.path)' <texts >verdicts 2>errors
        """
    ).wait()
    let errors = try String(contentsOf: folder.appending(path: "errors"), encoding: .utf8)
    try #require(status == 0, "\(errors)")
    let data = try Data(contentsOf: folder.appending(path: "verdicts"))
    let verdicts = try JSONDecoder().decode([String?].self, from: data)
    try #require(verdicts.count == samples.count)
    return verdicts
  }
}

extension KeyRow {
  /// Whether an editor can show what a value looks like.
  fileprivate var hasSample: Bool {
    switch type {
    case .boolean, .choice, .integer: true
    default: example != nil || defaultValue != nil
    }
  }
}
