// The defaults that the key tables name are those of the code: to write one changes nothing.

import Diagnostics
import Plans
import Testing

@testable import Pipelines

@Suite struct `Defaults that are written` {
  /// Each default by its table, as the line that writes it.
  private static let lines: [(table: TableExamples, line: String)] = tables.flatMap { table in
    table.rows.compactMap { row in row.defaultValue.map { (table, "\(row.key): \($0)") } }
  }

  @Test func `a file that writes a default plans the same as one that does not`() throws {
    for (table, line) in Self.lines {
      let written = Self.file(table, with: line)
      let silent = try #require(Self.without(line, in: written), "\(table.name): \(line)")
      let (facts, others) = (try Self.facts(written), try Self.facts(silent))
      let difference = zip(facts, others).first { $0 != $1 }
      let isSame = facts.count == others.count && difference == nil
      #expect(
        isSame != Self.impliedByNothing.contains("\(table.name) \(line)"),
        "\(table.name): \(line): \(difference ?? ("", ""))")
    }
  }

  /// Defaults for which the plan has nothing instead: an empty list of triggers means these, and to a pipeline that is
  /// used, a width is a limit besides that of the queue.
  private static let impliedByNothing: Set = [
    "retry on: [failed, timeout]", "named pipeline max_parallel: auto",
  ]

  @Test func `another value than the default plans something else`() throws {
    for (table, line) in Self.lines {
      let key = String(line.prefix { $0 != ":" })
      let name = "\(table.name) \(key)"
      let silent = try #require(Self.without(line, in: Self.file(table, with: line)))
      let facts = try Self.facts(silent, isPadded: false)
      let others = try #require(table.keys[key]).accepted.filter { value in
        let file = Self.file(table, with: "\(key): \(value)")
        return (try? Self.facts(file, isPadded: false)) != facts
      }
      #expect(others.isEmpty == Self.unseen.contains(name), "\(name)")
    }
  }

  /// Keys with a single value, and those that change nothing in the examples: they have one step, or run all steps.
  private static let unseen: Set = [
    "top level version", "top level sequence", "named pipeline sequence", "dependency optional",
  ]

  /// A file of the table that shows the line in its plan: its steps are jobs of Slurm, or use the named pipeline.
  private static func file(_ table: TableExamples, with line: String) -> String {
    let file = table.file(line)
    if table.name.contains("slurm") { return "executor: slurm\n" + file }
    guard table.name == "named pipeline" else { return file }
    return file.replacing("{id: z, run: x}", with: "{id: z, uses: '#p'}")
  }

  /// The file without the line, with everything else in its place: `{}` or a comment fills the gap.
  private static func without(_ line: String, in file: String) -> String? {
    let gap = String(repeating: " ", count: line.utf8.count - 2)
    return ["#" + line.dropFirst(), "{}" + gap].map { file.replacing(line, with: $0) }
      .first { messages($0).isEmpty }
  }

  /// Everything in the plan of a file.
  private static func facts(_ file: String, isPadded: Bool = true) throws -> [Substring] {
    var options = PlanningOptions(processorCount: 4)
    options.files = PipelineFiles { path, _ in .success(exampleFiles[path].map { Array($0.utf8) }) }
    options.demandsAllParameters = false
    let planned = try makePlan(path: "p", bytes: Array(file.utf8), options: options)
    var facts = ""
    write(planned, to: &facts, hidesPlaces: !isPadded)
    return facts.split(separator: "\n")
  }

  /// Writes a value with everything in it, except the text of the file, and where in it something is.
  private static func write(_ value: Any, to facts: inout String, hidesPlaces: Bool) {
    if value is SourceMap || hidesPlaces && value is Span { return }
    if let script = value as? ScriptText {
      facts += "\(script.string)\n"
      return
    }
    let mirror = Mirror(reflecting: value)
    guard !mirror.children.isEmpty else {
      facts += "\(value)\n"
      return
    }
    facts += "\(type(of: value))(\n"
    var parts = mirror.children.map { child in
      var part = child.label.map { "\($0): " } ?? ""
      write(child.value, to: &part, hidesPlaces: hidesPlaces)
      return part
    }
    if mirror.displayStyle == .set || mirror.displayStyle == .dictionary { parts.sort() }
    facts += parts.joined() + ")\n"
  }
}
