// Finds braces of other tools in scripts, with a name of this file in them: `{{ params.x }}`,
// `$(params.x)`, `${params.x}`, `{{x}}`, `{{.x}}`. A shell interprets them differently, or prints
// them. The text of commands is examined only if a file has such braces at all.

package import Diagnostics
import Expressions
import Plans

/// The names of parameters, derived values, variables, axes and steps in the pipeline files of a run.
private struct KnownNames {
  private var names: [ContextRoot: Set<String>] = [:]
  /// True if scripts are for a shell, unless a step says otherwise.
  let usesShell: Bool

  static let roots: [ContextRoot] = [.params, .vars, .env, .matrix, .steps]

  init(_ models: [PipelineModel]) {
    var shell = models.first?.shell
    for model in models {
      names[.params, default: []].formUnion(model.params.map(\.name))
      names[.vars, default: []].formUnion(model.vars.map(\.name))
      names[.env, default: []].formUnion(model.environment.map(\.name))
      for matrix in model.controlFlows.compactMap(\.matrix) {
        names[.matrix, default: []].formUnion(matrix.axes.map(\.name))
        names[.matrix, default: []].formUnion(matrix.memberNames)
      }
      for case .shell(let words) in model.defaultSettings { shell = words }
    }
    usesShell = shell.map { $0.first.map(isShell) ?? true } ?? true
  }

  mutating func add(steps: some Sequence<String>) { names[.steps, default: []].formUnion(steps) }

  private func holds(_ name: String, of root: ContextRoot) -> Bool {
    names[root]?.contains(name) ?? false
  }

  /// The expression in oprun that replaces braces, without its own; nil if there is no such name.
  func expression(of braces: Braces) -> String? {
    guard let root = braces.root else {
      return [ContextRoot.params, .vars].first { holds(braces.name, of: $0) }
        .map { "\($0.name).\(braces.name)" }
    }
    return holds(braces.name, of: root) ? braces.inside : nil
  }
}

/// True if a program reads scripts in which none of these braces have their apparent meaning.
private func isShell(_ program: String) -> Bool {
  let name = program.split(separator: "/").last ?? ""
  return ["sh", "dash", "bash", "zsh"].contains(name)
}

/// Braces with a name that may be one of oprun's.
private struct Braces {
  /// The range in the text.
  let range: Range<Int>
  /// The context named by the first word; nil for a name alone, as in just and Taskfile.
  let root: ContextRoot?
  let name: String
  /// The text between the braces.
  let inside: String

  /// All such braces in a text.
  static func all(in text: UnsafeBufferPointer<UInt8>) -> [Braces] {
    var found: [Braces] = []
    var brace = text.place(of: UInt8(ascii: "{"), from: 1) ?? text.count
    var parenthesis = text.place(of: UInt8(ascii: "("), from: 1) ?? text.count
    var place = min(brace, parenthesis)
    while place < text.count {
      var next = place + 1
      if let closing = closing(of: text, at: place),
        let braces = Braces(in: text, from: place, until: closing)
      {
        found.append(braces)
        next = braces.range.upperBound + 1
      }
      if brace < next { brace = text.place(of: UInt8(ascii: "{"), from: next) ?? text.count }
      if parenthesis < next {
        parenthesis = text.place(of: UInt8(ascii: "("), from: next) ?? text.count
      }
      place = min(brace, parenthesis)
    }
    return found
  }

  /// The end of the braces that begin at a position; nil if none begin. `${{` begins an expression.
  private static func closing(of text: UnsafeBufferPointer<UInt8>, at place: Int) -> StaticString? {
    let before = text[place - 1]
    switch text[place] {
    case UInt8(ascii: "{") where before == UInt8(ascii: "{"):
      return place > 1 && text[place - 2] == UInt8(ascii: "$") ? nil : "}}"
    case UInt8(ascii: "{") where before == UInt8(ascii: "$"):
      return place + 1 < text.count && text[place + 1] == UInt8(ascii: "{") ? nil : "}"
    case UInt8(ascii: "(") where before == UInt8(ascii: "$"): return ")"
    default: return nil
    }
  }

  private init?(
    in text: UnsafeBufferPointer<UInt8>, from opening: Int, until closing: StaticString
  ) {
    func skipped(_ place: Int) -> Int {
      var place = place
      while place < text.count, text[place] == UInt8(ascii: " ") { place += 1 }
      return place
    }
    func word(from start: Int) -> String {
      var end = start
      while end < text.count, Self.isNamed(text[end]) { end += 1 }
      return String(decoding: text[start..<end], as: UTF8.self)
    }
    func isDot(_ place: Int) -> Bool { place < text.count && text[place] == UInt8(ascii: ".") }
    let start = skipped(opening + 1)
    let first = word(from: start)
    let dot = start + first.utf8.count
    let size = closing.utf8CodeUnitCount
    let root = isDot(dot) ? KnownNames.roots.first { $0.name == first } : nil
    if root == nil, size != 2 || isDot(dot) && !first.isEmpty { return nil }
    let name = isDot(dot) ? word(from: dot + 1) : first
    var end = dot + (isDot(dot) ? 1 + name.utf8.count : 0)
    if root != nil { while end < text.count, Self.isNamed(text[end]) || isDot(end) { end += 1 } }
    let close = skipped(end)
    guard !name.isEmpty, close + size <= text.count,
      text[close..<close + size].elementsEqual(closing.description.utf8)
    else { return nil }
    self.root = root
    self.name = name
    inside = String(decoding: text[start..<end], as: UTF8.self)
    range = opening - 1..<close + size
  }

  private static func isNamed(_ byte: UInt8) -> Bool {
    switch byte {
    case 48...57, 65...90, 97...122, UInt8(ascii: "_"), UInt8(ascii: "-"): true
    default: false
    }
  }
}

extension LoadedPipeline {
  /// Advice about a file that is valid: braces and files of other tools in scripts, and variables that only hooks have.
  /// In the order of the files.
  package var notices: [Diagnostic] {
    let files = sources.files.filter { file in
      file.bytes.withUnsafeBufferPointer {
        !Braces.all(in: $0).isEmpty || !RunnerFile.all(in: $0).isEmpty
          || !HookVariable.all(in: $0).isEmpty
      }
    }
    if files.isEmpty { return [] }
    var names = KnownNames(models)
    for model in models {
      for step in model.steps {
        sources.withText(at: step.id.span) { names.add(steps: [$0.string(step.id.span)]) }
      }
    }
    var notices: [Diagnostic] = []
    for file in files where !file.isSecret { notices += self.notices(in: file, names) }
    return Array(notices.prefix(DiagnosticLog.limit))
  }

  private func notices(in file: SourceMap.File, _ names: KnownNames) -> [Diagnostic] {
    file.bytes.withUnsafeBufferPointer { bytes in
      let mark = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
      let text = UnsafeBufferPointer(rebasing: bytes[mark...])
      let base = file.start + mark
      guard let check = try? TextCheck(text, base: base) else { return [] }
      var tree = Tree(source: text, base: base)
      tree.isASCII = check.isASCII
      var reader = TreeReader(text, check: check, base: base)
      var search = CommandSearch(names, SourceText(text, start: base))
      while let step = try? reader.nextStep(into: &tree) { search.look(at: step, in: tree) }
      if !tree.nodes.isEmpty { search.look(at: 0, in: tree) }
      return search.notices
    }
  }
}

/// Searches the values of `run` for text that belongs to other tools.
private struct CommandSearch {
  private let names: KnownNames
  private let source: SourceText
  private(set) var notices: [Diagnostic] = []

  init(_ names: KnownNames, _ source: SourceText) {
    self.names = names
    self.source = source
  }

  mutating func look(at root: NodeIndex, in tree: Tree) {
    for map in root..<tree.next(after: root) where tree.nodes[map].kind == .map {
      var shell: NodeIndex?
      var command: NodeIndex?
      var isStep = false
      var key = map + 1
      while key < tree.next(after: map) {
        if tree.nodes[key].isScalar {
          if isKey("run", key, tree) { command = key + 1 }
          if isKey("shell", key, tree) { shell = key + 1 }
          if isKey("id", key, tree) { isStep = true }
        }
        key = tree.next(after: key + 1)
      }
      if let command, isForShell(shell, tree) { look(inCommand: command, isStep: isStep, tree) }
    }
  }

  private func isKey(_ name: StaticString, _ key: NodeIndex, _ tree: Tree) -> Bool {
    tree.withBytes(of: key) { $0.elementsEqual(name.description.utf8) }
  }

  private func isForShell(_ value: NodeIndex?, _ tree: Tree) -> Bool {
    guard let value else { return names.usesShell }
    let node = tree.resolve(value)
    let first = tree.nodes[node].kind == .list ? tree.resolve(node + 1) : node
    return tree.nodes[first].isScalar && isShell(tree.string(first))
  }

  private mutating func look(inCommand value: NodeIndex, isStep: Bool, _ tree: Tree) {
    for node in value..<tree.next(after: value) where tree.nodes[node].isScalar {
      let content = tree.withBytes(of: node) { Array($0)[...] }
      func report(_ range: Range<Int>, _ message: (String, Span) -> Diagnostic) {
        let span = tree.origin(node).span(of: range, in: content, source)
        notices.append(message(String(decoding: content[range], as: UTF8.self), span))
      }
      for braces in content.withUnsafeBufferPointer(Braces.all) {
        guard let expression = names.expression(of: braces) else { continue }
        report(braces.range) { LoadingMessage.foreignBraces($0, meaning: expression, at: $1) }
      }
      for file in content.withUnsafeBufferPointer(RunnerFile.all) {
        report(file.range) { LoadingMessage.runnerFile($0, file.name, at: $1) }
      }
      for found in isStep ? content.withUnsafeBufferPointer(HookVariable.all) : [] {
        report(found.range) { LoadingMessage.hookVariable($0, found.variable, at: $1) }
      }
    }
  }
}

extension MatrixModel {
  /// The names that `include` adds.
  fileprivate var memberNames: [String] {
    guard case .list(let entries)? = included else { return [] }
    return entries.flatMap { entry -> [String] in
      guard case .map(let members) = entry else { return [] }
      return members.map(\.name)
    }
  }
}
