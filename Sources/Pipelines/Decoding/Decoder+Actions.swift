// Decodes commands: `run`, hooks and shells.

import Diagnostics
import Expressions
import Plans

extension Decoder {
  /// Decodes a command: a string is a script, a list of strings an argument vector.
  mutating func command(_ value: NodeIndex, _ key: some ObjectKey) -> CommandModel? {
    let node = tree.resolve(value)
    if tree.nodes[node].kind == .list {
      return argumentVector(node, key.row).map { .arguments($0) }
    }
    return filledTemplate(value, key.row).map { .script($0) }
  }

  /// Decodes a list of strings, the first of which names a program. `orCommands` means that several
  /// commands would also be allowed.
  mutating func argumentVector(
    _ list: NodeIndex, _ row: KeyRow, orCommands: Bool = false
  ) -> [Text]? {
    let items = items(of: list)
    guard let first = items.first else {
      report(list) { DecodingMessage.empty(row.key, at: $0) }
      return nil
    }
    for (index, item) in items.enumerated() {
      let node = tree.resolve(item)
      if tree.nodes[node].isScalar, !isNull(node) { continue }
      let found = found(node)
      report(item) {
        DecodingMessage.wrongItem(index + 1, of: row.key, found: found, at: $0)
      }
      return nil
    }
    let texts = items.compactMap { template($0, row) }
    guard texts.count == items.count else { return nil }
    guard case .plain(let program) = texts[0] else { return texts }
    guard !program.isEmpty else {
      report(first) { DecodingMessage.emptyProgram(row.key, at: $0) }
      return nil
    }
    guard program.contains("/") || !program.contains(" ") else {
      report(first) {
        orCommands && items.count > 1
          ? DecodingMessage.commandsAsTexts(program, at: $0)
          : DecodingMessage.programWithBlank(program, among: items.count, at: $0)
      }
      return nil
    }
    return texts
  }

  /// Decodes an argument vector that may not contain expressions.
  private mutating func arguments(_ list: NodeIndex, _ row: KeyRow) -> [String]? {
    guard let texts = argumentVector(list, row) else { return nil }
    var words: [String] = []
    for (item, text) in zip(items(of: list), texts) {
      switch text {
      case .plain(let word): words.append(word)
      case .template: reportExpression(tree.resolve(item), row)
      }
    }
    return words.count == texts.count ? words : nil
  }

  /// The commands of a hook; the row of its key describes the forms.
  mutating func hook(_ value: NodeIndex, _ key: some ObjectKey) -> [HookModel]? {
    let row = key.row
    let node = tree.resolve(value)
    switch tree.nodes[node].kind {
    case .map: return hookCommand(node).map { [$0] }
    case .plain, .quoted, .block, .alias:
      return filledTemplate(value, row).map { [HookModel(command: .script($0))] }
    case .list: break
    }
    let items = items(of: node)
    if items.allSatisfy({ tree.nodes[tree.resolve($0)].isScalar }) {
      return argumentVector(node, row, orCommands: true)
        .map { [HookModel(command: .arguments($0))] }
    }
    return items.compactMap { item in
      let command = tree.resolve(item)
      if tree.nodes[command].kind == .map { return hookCommand(command) }
      return self.command(item, key).map { HookModel(command: $0) }
    }
  }

  private mutating func hookCommand(_ map: NodeIndex) -> HookModel? {
    let fields = readFields(of: map, HookCommandKey.table) { _, _ in "in a hook" }
    let timeout = fields[.timeout].flatMap { duration($0, HookCommandKey.timeout.row) }
    return hookCommand(map, fields).map {
      HookModel(command: $0, timeout: timeout ?? HookCommand.defaultTimeout)
    }
  }

  private mutating func hookCommand(
    _ map: NodeIndex, _ fields: Fields<HookCommandKey>
  ) -> CommandModel? {
    if let value = fields[.uses] {
      if let run = fields[.run] {
        report(keyNode(of: run)) { DecodingMessage.runAndUses(at: $0) }
      }
      guard let uses = uses(value, with: fields[.with], HookCommandKey.uses.row) else { return nil }
      if uses.kind.isPipeline { report(value) { DecodingMessage.nestedHook(at: $0) } }
      return .uses(uses)
    }
    guard let value = fields[.run] else {
      if !fields.holds(.run), !fields.holds(.uses) {
        log.report(at: firstKeySpan(of: map)) {
          DecodingMessage.missing(["run"], "in a hook", at: $0)
        }
      }
      return nil
    }
    if let with = fields[.with] {
      report(keyNode(of: with)) { DecodingMessage.withWithoutUses(at: $0) }
    }
    return command(value, HookCommandKey.run)
  }

  /// Decodes `uses`. A name with a slash, or with the ending of a YAML file, is a pipeline file;
  /// one that begins with `#` is a pipeline of this file.
  mutating func uses(_ value: NodeIndex, with inputs: NodeIndex?, _ row: KeyRow) -> UsesModel? {
    let members = inputs.map { self.inputs($0) } ?? []
    guard let name = filledText(value, row), let members, checkIsNoAction(name, value) else {
      return nil
    }
    return UsesModel(kind: kind(ofUsed: name), span: span(tree.resolve(value)), with: members)
  }

  private func kind(ofUsed name: String) -> UsesModel.Kind {
    if name.hasPrefix("#") { return .section(String(name.dropFirst())) }
    let isFile = name.contains("/") || name.hasSuffix(".yml") || name.hasSuffix(".yaml")
    return isFile ? .file(name) : .builtIn(name)
  }

  /// Returns false, after a report, for something that only other tools can use: `owner/action@v4`,
  /// `docker://image`.
  private mutating func checkIsNoAction(_ name: String, _ value: NodeIndex) -> Bool {
    if name.hasPrefix("docker://") {
      report(tree.resolve(value)) { DecodingMessage.container(name, at: $0) }
      return false
    }
    let isFile = name.hasPrefix(".") || name.hasSuffix(".yml") || name.hasSuffix(".yaml")
    guard !isFile, let slash = name.firstIndex(of: "/"), name[slash...].contains("@") else {
      return true
    }
    report(tree.resolve(value)) { DecodingMessage.foreignAction(name, at: $0) }
    return false
  }

  private mutating func inputs(_ value: NodeIndex) -> [MemberModel]? {
    let map = tree.resolve(value)
    guard tree.nodes[map].kind == .map else {
      reportType(value, StepKey.with.row)
      return nil
    }
    guard case .map(let members)? = anyValue(map) else { return nil }
    return members
  }

  /// Decodes the words before `-c` and the script. A known shell gets the options with which a
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
    let options = Interpreter.named(program)?.strictOptions ?? []
    return [program == "sh" ? "/bin/sh" : program] + options
  }
}
