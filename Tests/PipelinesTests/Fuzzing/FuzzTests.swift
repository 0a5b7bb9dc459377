// Feeds generated and mutated inputs to the parsers of untrusted text. By default they are few and
// always the same; `Scripts/fuzz` sets OPRUN_FUZZ_SECONDS, and then new ones are made until the
// time is over. Inputs that once failed are kept in Tests/Fuzz and tried in every run.

import Foundation
import TestSupport
import Testing

struct FuzzTests {
  @Test(.enabled(if: Fuzzing.isWanted("expressions")))
  func `no expression breaks the reader, the checker or the evaluator`() throws {
    var fuzzing = try Fuzzing("expressions", words: ExpressionGenerator.words, fuzzExpression)
    try fuzzing.run(count: 3000) { random in
      var generator = ExpressionGenerator(random: random)
      let text = random.oneIn(3) ? generator.text() : generator.expression()
      random = generator.random
      return Array(text.utf8)
    }
  }

  @Test(.enabled(if: Fuzzing.isWanted("yaml")))
  func `no file breaks the reader of pipelines`() throws {
    var fuzzing = try Fuzzing("yaml", words: yamlWords, fuzzPipeline)
    try fuzzing.addCorpus(from: "Pipelines", named: ".yml")
    try fuzzing.addCorpus(from: "Tests/Cases", named: "pipeline.yml")
    try fuzzing.run(count: 1500) { random in
      Array((0..<random.below(40)).map { _ in random.pick(yamlWords) }.joined().utf8)
    }
  }

  @Test(.enabled(if: Fuzzing.isWanted("outputs")))
  func `no file breaks the reader of outputs`() throws {
    var fuzzing = try Fuzzing("outputs", words: outputWords, fuzzOutputs)
    try fuzzing.run(count: 3000) { random in
      Array((0..<random.below(30)).map { _ in random.pick(outputWords) }.joined().utf8)
    }
  }
}

private let yamlWords = [
  "steps:\n", "  - id: a\n", "    run: x\n", "\n", "  ", "\t", "- ", ": ", "? ", "| ", ">-\n",
  "&a ",
  "*a", "<<: ", "[", "]", "{", "}", ", ", "'", "\"", "\\x41", "\\u2028", "#", "!!str ",
  "%YAML 1.2\n",
  "---\n", "...\n", "params:\n", "matrix: {os: [a, b]}", "env: {A: b}", "${{ params.x }}",
  "depends_on: [a]", "if: ", "success()", "null", "~", "true", "1e3", "\u{FEFF}", "\r\n", "\u{85}",
  "é", "\u{1F600}", "\0", "include: [b.yml]", "uses: ./b.yml", "secrets: [{name: T, from: env}]",
  "outputs: {a: string}", "retry: {limit: 2}", "timeout: 3s", "queue: q",
  "queues: {q: {max_parallel: 1}}",
]

private let outputWords = [
  "a", "b=", "=", "<<", "EOF", "\n", "\r\n", ":json=", "json", "{", "}", "[", "]", "\"", "\\u00e9",
  ",", ":",
  "1", "1e999", "null", "true", "a=1\n", "b<<EOF\nx\nEOF\n", "c:json={\"x\": [1]}\n", "\0", "é",
  "-", " ",
]

/// One target with its corpus.
struct Fuzzing {
  private let name: String
  private let words: [String]
  private let target: ([UInt8]) throws -> Void
  private var corpus: [[UInt8]] = []

  private static let environment = ProcessInfo.processInfo.environment
  private static let seconds = environment["OPRUN_FUZZ_SECONDS"].flatMap(Double.init)
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// In a long run, only the target that was named.
  static func isWanted(_ name: String) -> Bool {
    environment["OPRUN_FUZZ_TARGET"].map { $0 == name } ?? (seconds == nil)
  }

  init(
    _ name: String, words: [String], _ target: @escaping ([UInt8]) throws -> Void
  ) throws {
    self.name = name
    self.words = words
    self.target = target
    try addCorpus(from: "Tests/Fuzz/\(name)", named: "")
  }

  mutating func addCorpus(from folder: String, named end: String) throws {
    let start = Self.root.appending(path: folder)
    for path in try FileManager.default.subpathsOfDirectory(atPath: start.path).sorted()
    where path.hasSuffix(end) {
      var isFolder = ObjCBool(false)
      let file = start.appending(path: path)
      _ = FileManager.default.fileExists(atPath: file.path, isDirectory: &isFolder)
      if !isFolder.boolValue { corpus.append(Array(try Data(contentsOf: file))) }
    }
  }

  /// Tries the corpus, then generated and mutated inputs: this many, or until the time is over.
  mutating func run(count: Int, _ generate: (inout FuzzRandom) -> [UInt8]) throws {
    for input in corpus { try attempt(input) }
    var random = FuzzRandom(seed: Self.seconds == nil ? 1 : UInt64(Date().timeIntervalSince1970))
    let clock = ContinuousClock()
    let end = Self.seconds.map { clock.now + .seconds($0) }
    var tried = 0
    while end.map({ clock.now < $0 }) ?? (tried < count) {
      tried += 1
      var input = random.oneIn(2) || corpus.isEmpty ? generate(&random) : random.pick(corpus)
      if !random.oneIn(3) {
        let other = corpus.isEmpty ? input : random.pick(corpus)
        input = random.mutated(input, with: other, words: words)
      }
      try attempt(input)
    }
    if Self.seconds != nil { print("\(name): \(tried) inputs") }
  }

  private func attempt(_ input: [UInt8]) throws {
    let current = Self.root.appending(path: ".build/fuzz-\(name)")
    // An input that kills the process is found there.
    if Self.seconds != nil { try Data(input).write(to: current) }
    let took = try processorTime {
      do { try target(input) } catch {
        try Data(input).write(to: current)
        Issue.record("\(error)\n\(String(decoding: input, as: UTF8.self).debugDescription)")
        throw error
      }
    }
    #expect(
      took < 30, "\(took) s for \(String(decoding: input, as: UTF8.self).debugDescription)")
  }
}
