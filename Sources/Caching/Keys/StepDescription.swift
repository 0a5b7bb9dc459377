// A description of a step, in parts that can be told from each other: two runs are compared by them.

import Diagnostics
import Expressions
import Glibc
import Masking
import Plans

/// One thing that the result of a step depends on, besides files.
package struct KeyPart: Hashable, Sendable {
  package enum Kind: UInt8, Sendable {
    case format, command, shell, directory, input, variable, declaration, tool, upstream, program
  }

  package let kind: Kind
  package let name: String
  /// The value, without secrets; nil if there is none.
  package let value: String?

  init(_ kind: Kind, _ name: String = "", _ value: String?) {
    self.kind = kind
    self.name = name
    self.value = value
  }
}

/// The inherited variables that a cached step gets without declaring them.
package enum CachedVariables {
  /// They change what commands print, so results depend on them.
  package static let keyed = [
    "LANG", "LANGUAGE", "LC_ALL", "LC_COLLATE", "LC_CTYPE", "LC_MESSAGES", "LC_MONETARY",
    "LC_NUMERIC", "LC_TIME", "TZ",
  ]
  /// They say where things are on this machine, or who uses it.
  package static let others = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TERM"]

  package static let passed = Set(keyed + others)
}

/// The common part of the descriptions of all steps of a run.
struct DescribedRun {
  /// The variables that oprun inherited.
  let environment: [String: String]
  /// The version of the built-in steps.
  let version: String
  let masker: Masker?
  /// Whether the kernel can confine commands.
  let canConfine: Bool
  /// The inherited variables that every cached step gets, and depends on.
  fileprivate let keyed: [(name: String, value: String)]

  init(environment: [String: String], version: String, masker: Masker?, canConfine: Bool) {
    self.environment = environment
    self.version = version
    self.masker = masker
    self.canConfine = canConfine
    keyed = CachedVariables.keyed.compactMap { name in environment[name].map { (name, $0) } }
  }
}

/// A step whose result may be known. Its parts are kept as they are written in a record, so that the two can be
/// compared as they are.
struct StepDescription {
  /// The version of what follows. Another one finds nothing.
  private static let format = "6"
  private var count = 0
  private var content = ByteWriter()
  private(set) var digest = CacheDigest.none
  /// The digest of the same step if it were confined; nil if it is, or never can be.
  private(set) var confinedDigest: CacheDigest?
  private static let unconfined = "enforce"
  /// Whether it is that of a step whose command need not be confined.
  private(set) var isOfUnconfined = false

  /// Makes it that of a step.
  mutating func describe(
    _ step: ReadyStep, _ action: Action, _ cache: CacheSettings, in run: DescribedRun
  ) {
    count = 0
    content.removeAll()
    digest = .none
    confinedDigest = nil
    isOfUnconfined = true
    let settings = step.settings
    let masker = run.masker
    add(.format, value: Self.format)
    add(action, shell: settings.shell, run)
    add(.directory, value: settings.workingDirectory ?? ".", masker)
    if let input = settings.standardInput { add(.input, value: input, masker) }
    for variable in settings.environment {
      add(.variable, variable.name, value: variable.value, masker)
    }
    for variable in run.keyed { add(.variable, variable.name, value: variable.value) }
    for name in cache.environment {
      add(.variable, name, value: run.environment[name], masker)
    }
    add("inputs", cache.inputs, masker)
    add("outputs", cache.outputs, masker)
    add("scratch", cache.scratch, masker)
    if let outputs = settings.outputs {
      add("outputs of the step", outputs.map { "\($0.name):\($0.type)" }, masker)
    }
    if settings.usesTerminal { add("tty", ["true"], masker) }
    // The result of an unconfined command may depend on files that the step does not declare.
    if case .helper = action { return }
    isOfUnconfined = !cache.isEnforced || !run.canConfine
    if isOfUnconfined { add(Self.unconfined, ["false"], nil) }
  }

  private mutating func add(_ action: Action, shell: [String], _ run: DescribedRun) {
    switch action {
    case .script(let text):
      if let masker = run.masker {
        add(.command, value: masker.mask(text.string))
      } else {
        _ = text.withUTF8 { script in
          begin(.command, "", hasValue: true)
          content.add(raw: UnsafeRawBufferPointer(script))
          return true
        }
      }
      add(.shell, "", words: shell)
    case .arguments(let words):
      add(.command, value: words.map(shellQuoted).joined(separator: " "), run.masker)
    case .helper(let words):
      add(.command, value: words.map(shellQuoted).joined(separator: " "), run.masker)
      add(.program, value: run.version)
    }
  }

  /// Patterns and the like; nothing is added if there are none.
  private mutating func add(_ name: String, _ texts: [String], _ masker: Masker?) {
    if texts.isEmpty { return }
    if let masker {
      add(.declaration, name, value: texts.map { masker.mask($0).unbroken }.joined(separator: " "))
    } else {
      add(.declaration, name, words: texts)
    }
  }

  private mutating func add(_ kind: KeyPart.Kind, _ name: String, words: [String]) {
    begin(kind, name, hasValue: true)
    content.add(joining: words.map(\.unbroken))
  }

  private mutating func add(
    _ kind: KeyPart.Kind, _ name: String = "", value: String?, _ masker: Masker?
  ) {
    add(kind, name, value: masker.flatMap { masker in value.map { masker.mask($0) } } ?? value)
  }

  mutating func add(_ kind: KeyPart.Kind, _ name: String = "", value: String?) {
    begin(kind, name, hasValue: value != nil)
    content.add(value ?? "")
  }

  private mutating func begin(_ kind: KeyPart.Kind, _ name: String, hasValue: Bool) {
    count += 1
    content.add(kind.rawValue)
    content.add(name)
    content.add(hasValue)
  }

  /// Whether it has the parts that are written in these bytes.
  func equals(_ written: UnsafeRawBufferPointer) -> Bool {
    var cursor = RecordCursor(written)
    guard cursor.number() == count, cursor.rest.count == content.bytes.count else { return false }
    return content.bytes.withUnsafeBytes { own in
      guard let own = own.baseAddress, let other = cursor.rest.baseAddress else { return false }
      return memcmp(own, other, content.bytes.count) == 0
    }
  }

  var parts: [KeyPart] {
    var reader = ByteReader(content.bytes[...])
    return (0..<count).compactMap { _ in try? KeyPart(from: &reader) }
  }

  /// Computes the digest; nothing is added after this.
  mutating func finish() {
    let parts = self.parts
    digest = Self.digest(of: parts)
    let confined = parts.filter { $0.kind != .declaration || $0.name != Self.unconfined }
    if confined.count < parts.count { confinedDigest = Self.digest(of: confined) }
  }

  private static func digest(of parts: [KeyPart]) -> CacheDigest {
    var builder = DigestBuilder()
    for part in parts {
      builder.add(Int(part.kind.rawValue))
      builder.add(part.name)
      builder.add(part.value == nil ? 0 : 1)
      builder.add(part.value ?? "")
    }
    return builder.finish()
  }

  /// The key of a step that is this and reads these files.
  static func key(_ digest: CacheDigest, _ inputs: [FileEntry]) -> CacheDigest {
    var builder = DigestBuilder()
    builder.add(digest)
    for entry in inputs where !entry.isOnlyListed { entry.add(to: &builder) }
    return builder.finish()
  }

  /// Stands for a result in the keys of the steps that depend on it.
  static func resultDigest(of key: CacheDigest, _ files: [FileEntry]) -> CacheDigest {
    var builder = DigestBuilder()
    builder.add(key)
    for entry in files { entry.addAsResult(to: &builder) }
    return builder.finish()
  }
}

extension String {
  /// The text without blanks that could be taken for those between several texts.
  fileprivate var unbroken: String {
    guard utf8.contains(where: { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\\") }) else {
      return self
    }
    return split(separator: "\\", omittingEmptySubsequences: false).map {
      $0.split(separator: " ", omittingEmptySubsequences: false).joined(separator: "\\ ")
    }.joined(separator: "\\\\")
  }
}
