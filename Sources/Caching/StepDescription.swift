// What a step is, in parts that can be told from each other: two runs are compared by them.

import Expressions
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

/// A step whose result may be known.
struct StepDescription {
  /// The version of what follows. Another one finds nothing.
  private static let format = "1"
  private(set) var parts: [KeyPart] = []
  private(set) var digest = CacheDigest.none

  /// `environment` is what oprun inherited; `version` is that of the built-in steps.
  init(
    _ step: ReadyStep, _ action: Action, _ cache: CacheSettings, environment: [String: String],
    version: String, mask: (String) -> String
  ) {
    let settings = step.settings
    add(.format, value: Self.format)
    switch action {
    case .script(let text):
      add(.command, value: mask(text.string))
      add(.shell, value: settings.shell.joined(separator: " "))
    case .arguments(let words):
      add(.command, value: mask(words.map(shellQuoted).joined(separator: " ")))
    case .helper(let words):
      add(.command, value: mask(words.map(shellQuoted).joined(separator: " ")))
      add(.program, value: version)
    }
    add(.directory, value: settings.workingDirectory.map(mask) ?? ".")
    if let input = settings.standardInput { add(.input, value: mask(input)) }
    for variable in settings.environment {
      add(.variable, variable.name, value: mask(variable.value))
    }
    for name in CachedVariables.keyed where environment[name] != nil {
      add(.variable, name, value: environment[name])
    }
    for name in cache.environment { add(.variable, name, value: environment[name].map(mask)) }
    let lists = [
      ("inputs", cache.inputs), ("outputs", cache.outputs), ("scratch", cache.scratch),
      ("outputs of the step", settings.outputs?.map { "\($0.name):\($0.type)" } ?? []),
      ("tty", settings.usesTerminal ? ["true"] : []),
    ]
    for (name, texts) in lists where !texts.isEmpty {
      add(.declaration, name, value: mask(texts.joined(separator: " ")))
    }
  }

  mutating func add(_ kind: KeyPart.Kind, _ name: String = "", value: String?) {
    parts.append(KeyPart(kind, name, value))
  }

  /// Computes the digest; nothing is added after this.
  mutating func finish() {
    var builder = DigestBuilder()
    for part in parts {
      builder.add(Int(part.kind.rawValue))
      builder.add(part.name)
      builder.add(part.value == nil ? 0 : 1)
      builder.add(part.value ?? "")
    }
    digest = builder.finish()
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
