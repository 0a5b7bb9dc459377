// The texts on which the schema and the decoder must agree, and what no schema can know.

import BuiltinSteps
import Foundation
import Pipelines
import Plans

let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
  .deletingLastPathComponent()

/// A pipeline file, and where it comes from.
struct SchemaSample: Sendable {
  let name: String
  let text: String
}

enum SchemaCorpus {
  /// Separate files, each about one thing.
  static let accepted = files(in: "Tests/Schema/accepted")
  static let refused = files(in: "Tests/Schema/refused")

  /// The examples of every key.
  static let acceptedExamples = examples { $0.accepted }
  static let refusedExamples = examples { $0.refused.map(\.0) }

  /// The examples that the schema shows.
  static let rowExamples = tables.flatMap { table in
    table.rows.filter { $0.key != "steps" }.compactMap { row in
      row.example.map {
        SchemaSample(name: "\(table.name) \(row.key): \($0)", text: table.file("\(row.key): \($0)"))
      }
    }
  }

  /// Every key with values of every kind, most of them wrong.
  static let probes = (tables + [defaultsExamples]).flatMap { table in
    table.rows.flatMap { row in
      (probeValues + row.type.choices).map { value in
        let line = "\(row.key): \(value)"
        return SchemaSample(
          name: "\(table.name) \(line)", text: row.key == "steps" ? line : table.file(line))
      }
    }
  }

  private static let probeValues = [
    "~", "''", "x", "'a b'", "a/b c", "5", "0", "-1", "1.5", "1000001", "65", "true", "'true'",
    "yes",
    "30s", "0s", "5K", "'5'", "${{ 1 }}", "x ${{ 1 }}", "'$${{ 1 }}'",
    "[]", "[~]", "[x]", "[5]", "[0]", "[256]", "[x, true, 1.5]", "[x, '']", "['', x]", "[a b]",
    "[x, '${{ 1 }}']", "['${{ 1 }}', x]", "[[x]]", "[x, [x]]", "[[x], '']", "[[x], '${{ 1 }}']",
    "[[x], 5, true]", "[[x], ~]", "[{}]", "[{run: x}, true]", "[{a: b}]",
    "{}", "{a: b}", "{a: ~}", "{a: 5}", "{a: -1}", "{a: 10000000000000}", "{a: true}", "{a: []}",
    "{a: {}}",
    "{a: '${{ 1 }}'}", "{a b: 5}", "{a=b: c}", "{'': c}",
    "{run: x}", "{run: ''}", "{limit: 1}", "{exit_codes: [1]}", "{max_parallel: 1}",
  ]

  /// `defaults` has most keys of a step.
  private static let defaultsExamples = TableExamples(
    name: "defaults", rows: ObjectKind.defaults.rows,
    file: { "queues: {x: {}}\nresources: {a: 9}\ndefaults:\n  \($0)\nsteps: [{id: z, run: x}]\n" },
    keys: [:])

  /// Every input of every built-in step with values of every kind.
  static let inputProbes = BuiltinStep.all.flatMap { step in
    step.keys.flatMap { key in
      inputValues.map { value in
        let line = "\(key.name): \(value)"
        return SchemaSample(
          name: "\(step.name) \(line)",
          text: "steps:\n  - id: a\n    uses: \(step.name)\n    with:\n      \(line)\n"
            + inputs(of: step, beside: key.name))
      }
    }
  }

  /// Every built-in step without one of the inputs that it needs, and defaults of every type.
  static let combinations =
    BuiltinStep.all.flatMap { step in
      step.keys.map { key in
        SchemaSample(
          name: "\(step.name) beside \(key.name)",
          text: "steps:\n  - id: a\n    uses: \(step.name)\n    with:\n      every: 1s\n"
            .replacing("every: 1s", with: step.name == "wait" ? "every: 1s" : "to: a")
            + inputs(of: step, beside: key.name).replacing("      to: a.txt\n", with: ""))
      }
    }
    + ["string", "int", "number", "bool", "list"].flatMap { type in
      ["x", "''", "5", "1.5", "true", "[x]", "[5]", "[true]", "[1.5]", "[[x]]", "[~]"].flatMap {
        value in
        ["default", "enum"].map { key in
          SchemaSample(
            name: "\(type) \(key): \(value)",
            text: "params: {a: {type: \(type), required: false, \(key): \(value)}}\n"
              + "steps: [{id: a, run: x}]\n")
        }
      }
    }

  /// The other inputs that the step needs.
  private static func inputs(of step: BuiltinStep, beside name: String) -> String {
    let needed =
      step.keys.filter(\.isRequired).map(\.name)
      + step.groups.filter { !$0.keys.contains(name) }.map { $0.keys[0] }
    return needed.filter { $0 != name }.map {
      "      \($0): \($0 == "width" ? "5" : $0 == "url" ? "https://a.b/c" : "a.txt")\n"
    }.joined()
  }

  private static let inputValues = [
    "~", "''", "x", "'a b'", "5", "'5'", "0", "-1", "1.5", "true", "'true'", "yes", "30s", "0s",
    "5K",
    "cover", "${{ run.id }}", "'a${{ run.id }}'", "[]", "[~]", "[x]", "[5, 6]", "[[x]]", "[true]",
    "[cover]", "https://a.b/c", "ftp://a.b/c", "a:1", "'[::1]:80'", "red", "'#12ab'", "'#12f'",
    String(repeating: "a1", count: 32), "{}", "{a: b}", "{a: 5}", "{a: ~}", "{a: [b]}",
  ]

  /// Whole pipelines that exist for other purposes.
  static let others =
    files(in: "Pipelines")
    + folders(in: "Tests/Cases").flatMap { files(in: "Tests/Cases/\($0)") }

  private static func examples(_ values: (KeyExamples) -> [String]) -> [SchemaSample] {
    tables.flatMap { table in
      table.keys.sorted { $0.key < $1.key }.flatMap { key, examples in
        values(examples).map {
          SchemaSample(name: "\(table.name) \(key): \($0)", text: table.file("\(key): \($0)"))
        }
      }
    }
  }

  private static func folders(in folder: String) -> [String] {
    let path = repository.appending(path: folder).path
    return (try? FileManager.default.contentsOfDirectory(atPath: path).sorted()) ?? []
  }

  /// The samples in a directory, without files that are not UTF-8.
  private static func files(in folder: String) -> [SchemaSample] {
    folders(in: folder).filter { $0.hasSuffix(".yml") }.compactMap { name in
      let file = repository.appending(path: "\(folder)/\(name)")
      guard let text = try? String(contentsOf: file, encoding: .utf8) else { return nil }
      return SchemaSample(name: "\(folder)/\(name)", text: text)
    }
  }
}

extension ValueType {
  /// The words that are allowed, if any are.
  fileprivate var choices: [String] {
    switch self {
    case .choice(let names): names
    case .either(let types): types.flatMap(\.choices)
    case .early(let type): type.choices
    default: []
    }
  }
}

/// What the decoder or the planner finds and a schema cannot, because it compares names, or depends
/// on how YAML is written. The reference lists the same.
enum BeyondSchema {
  /// Messages about such things.
  static func covers(_ message: String) -> Bool {
    messages.contains { message.contains($0) }
  }

  private nonisolated(unsafe) static let messages: [Regex<Substring>] = [
    // Names that refer to nothing.
    /which does not exist/,
    /(?:pipeline|included file|\.env file) '.*' does not exist/,
    /unknown (?:built-in step|pipeline|queue|resource|instance) '/,
    // Names and keys that are already defined.
    /two steps have the id/, /twice/,
    // What is inside of expressions.
    /unknown (?:name|step|parameter)/, /used here has no parameter/, /has no meaning/,
    #/(?:found '.*'|the expression ends too early), wanted /#, /is not a number/,
    /the (?:condition|value|value of '.*') must be/, /secrets can be used only in/,
    /is a secret that is not required/, /may be null/,
    /is known only to the command/, /parameter '.*' has no value/, /is null, which cannot be/,
    /axis '.*' must be/,
    // Parameters: names that become one variable, defaults that are not allowed.
    /two parameters would be/, /the default must/, /is not a regular expression/,
    // Limits of whole files.
    /which is the limit/,
    // Cycles, and sums.
    /in a cycle/, /dependency cycle/, /the pool has/, /needs a service/, /is outside the directory/,
    // Addresses: a port is a number with a limit.
    /'tcp' must be 'host:port'/, /'http' must be an http or https URL/,
    // Conditions between inputs of a built-in step, and inside patterns.
    /gives the same path/, /needs 'width' and 'height'/, /want as many values/, /'to' has/,
    /'to' wants/, /'sha256' wants a hash for each/, /'sha256' does not go with/,
    // Patterns that only some lists may have.
    /only 'inputs' can exclude files/,
    // Options that are cut off.
    /oprun sets the option '/,
    // How a text is written.
    /an id must be written literally/, /NUL|U\+|line break|cannot contain the character/,
  ]

  /// Values that the schema interprets differently, because a YAML parser hides how they are
  /// written, or because a pattern cannot count that far.
  static let spellings: Set = [
    "True", "0x10", "1.", "{a: 1.50}", "{cpu: 1.}", "{cpu: 0.0000001}", "1.0001", "999999999d",
    "9999999T",
    // Ids are texts for the schema: editors would offer `true` and `false` for them.
    "step id: true", "secret name: true",
  ]

  static func covers(_ sample: SchemaSample) -> Bool {
    spellings.contains(sample.name)
      || sample.name.firstRange(of: ": ").map {
        spellings.contains(String(sample.name[$0.upperBound...]))
      } ?? false
  }
}
