// What processes run: `run`, hooks and shells.

import Diagnostics

extension Decoder {
  /// Text is a script, a list of texts an argument vector.
  mutating func command(_ value: NodeIndex, _ key: some ObjectKey) -> Action? {
    let node = tree.resolve(value)
    if tree.nodes[node].kind == .list { return arguments(node, key.row).map { .arguments($0) } }
    return filledText(value, key.row).map { .script($0) }
  }

  /// A list of texts of which the first names a program.
  mutating func arguments(_ list: NodeIndex, _ row: KeyRow) -> [String]? {
    let items = items(of: list)
    guard let first = items.first else {
      report(list) { DecodingMessage.empty(row.key, at: $0) }
      return nil
    }
    let texts = items.compactMap { text($0, row) }
    guard texts.count == items.count else { return nil }
    guard !texts[0].isEmpty else {
      report(first) { DecodingMessage.emptyProgram(row.key, at: $0) }
      return nil
    }
    guard texts[0].contains("/") || !texts[0].contains(" ") else {
      report(first) { DecodingMessage.programWithBlank(texts[0], at: $0) }
      return nil
    }
    return texts
  }

  /// The commands of a hook; the forms are told in the row of its key.
  mutating func hook(_ value: NodeIndex, _ key: some ObjectKey) -> [Action]? {
    let row = key.row
    let node = tree.resolve(value)
    switch tree.nodes[node].kind {
    case .map: return hookCommand(node).map { [$0] }
    case .plain, .quoted, .block, .alias: return filledText(value, row).map { [.script($0)] }
    case .list: break
    }
    let items = items(of: node)
    if items.allSatisfy({ tree.nodes[tree.resolve($0)].isScalar }) {
      return arguments(node, row).map { [.arguments($0)] }
    }
    return items.compactMap { item in
      let command = tree.resolve(item)
      return tree.nodes[command].kind == .map ? hookCommand(command) : self.command(item, key)
    }
  }

  private mutating func hookCommand(_ map: NodeIndex) -> Action? {
    let fields = readFields(of: map, HookCommandKey.table) { _, _ in "in a hook" }
    if !fields.holds(.run), !fields.holds(.uses), !fields.holds(.with) {
      log.report(at: firstKeySpan(of: map)) {
        DecodingMessage.missing(["run"], "in a hook", at: $0)
      }
    }
    return fields[.run].flatMap { command($0, HookCommandKey.run) }
  }

  /// The words before `-c` and the script. A shell that is known gets the options with which a
  /// script stops at its first failing command; any other program is called as it is.
  mutating func shell(_ value: NodeIndex, _ key: some ObjectKey) -> [String]? {
    let node = tree.resolve(value)
    if tree.nodes[node].kind == .list { return arguments(node, key.row) }
    guard let program = filledText(value, key.row) else { return nil }
    if program.contains(" ") {
      let words = program.split(separator: " ").joined(separator: ", ")
      report(node) { DecodingMessage.shellWithOptions(program, words: words, at: $0) }
      return nil
    }
    switch program.split(separator: "/").last.map(String.init) ?? "" {
    case "sh": return [program == "sh" ? "/bin/sh" : program, "-e"]
    case "bash": return [program, "-eo", "pipefail"]
    case "ash", "dash", "ksh", "mksh", "zsh": return [program, "-e"]
    default: return [program]
    }
  }
}
