// A number for what a step runs: if it has changed, the step was edited. It covers everything that
// decides what is run, but not how often, when or under which name.

import CCrypto
import Expressions
package import Masking
package import Plans
import Scheduling

/// A digest of parts, each with its length.
struct FingerprintDigest {
  private var context = SHA256_CTX()

  init() { ccrypto_sha256_init(&context) }

  mutating func add(_ text: String) {
    var text = text
    text.withUTF8 { add($0) }
  }

  mutating func add(_ bytes: UnsafeBufferPointer<UInt8>) {
    add(bytes.count)
    ccrypto_sha256_update(&context, bytes.baseAddress, bytes.count)
  }

  mutating func add(_ number: Int) {
    var number = number.littleEndian
    ccrypto_sha256_update(&context, &number, MemoryLayout<Int>.size)
  }

  mutating func add(_ texts: [String]) {
    add(texts.count)
    for text in texts { add(text) }
  }

  /// 63 bits of the digest; never 0, which means that there is none.
  mutating func finish() -> Int {
    var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    withUnsafeMutableBytes(of: &words) { bytes in
      ccrypto_sha256_final(&context, bytes.bindMemory(to: UInt8.self).baseAddress)
    }
    return max(1, Int(words.0.bigEndian >> 1))
  }
}

/// The numbers of the steps of a plan.
package struct Fingerprints {
  /// The numbers of settings, which steps share. Settings live as long as the plan.
  private var settings: [ObjectIdentifier: Int] = [:]
  /// Hides secrets in a text.
  private let mask: (String) -> String

  package init(_ masker: Masker?) {
    mask = masker.map { masker in { masker.mask($0) } } ?? { $0 }
  }

  /// The number of a step as it is written, with everything that is known before the run.
  package mutating func written(_ step: PlannedStep) -> Int {
    var digest = FingerprintDigest()
    add(step.work, to: &digest)
    digest.add(number(of: step.settings))
    digest.add(step.usesShell ? step.settings.shell : [])
    if let late = step.late { add(late, to: &digest) }
    return digest.finish()
  }

  /// The number of a step of which everything is known.
  func resolved(_ step: ReadyStep) -> Int {
    var digest = FingerprintDigest()
    if let action = step.action { add(action, to: &digest) }
    add(step.settings, to: &digest)
    digest.add(step.usesShell ? step.settings.shell : [])
    digest.add(step.readiness.map { mask($0.words) })
    return digest.finish()
  }

  private mutating func number(of shared: StepSettings) -> Int {
    if let known = settings[ObjectIdentifier(shared)] { return known }
    var digest = FingerprintDigest()
    add(shared, to: &digest)
    let number = digest.finish()
    settings[ObjectIdentifier(shared)] = number
    return number
  }

  private func add(_ work: Work, to digest: inout FingerprintDigest) {
    switch work {
    case .known(let action): add(action, to: &digest)
    case .late(let shown): digest.add(mask(shown.text))
    case .none: digest.add(0)
    }
  }

  private func add(_ action: Action, to digest: inout FingerprintDigest) {
    switch action {
    case .script(let text): digest.add(mask(text.string))
    case .arguments(let words):
      digest.add(1)
      digest.add(words.map(mask))
    case .helper(let words):
      digest.add(2)
      digest.add(words.map(mask))
    }
  }

  private func add(_ settings: StepSettings, to digest: inout FingerprintDigest) {
    digest.add(settings.environment.count)
    // The last of several with one name counts.
    for variable in settings.environment.inOrder(of: \.name) {
      digest.add(variable.name)
      digest.add(mask(variable.value))
    }
    digest.add(settings.workingDirectory.map(mask) ?? "")
    digest.add(settings.standardInput.map(mask) ?? "")
    digest.add((settings.usesTerminal ? 1 : 0) + (settings.capturesOutput ? 2 : 0))
    digest.add(settings.outputs?.map { "\($0.name):\($0.type)" }.sorted() ?? ["any"])
    for kind in HookKind.allCases {
      digest.add(settings.hooks[kind].map { mask($0.work.shown?.text ?? "") })
    }
  }

  private func add(_ late: LateStep, to digest: inout FingerprintDigest) {
    let parts = late.parts.expansion?.parts ?? late.parts
    digest.add(parts.conditions.map(\.written))
    digest.add(late.probes)
    digest.add(late.readiness)
    digest.add(parts.input.map(\.description) ?? "")
    digest.add(late.parts.outputs.map { "\($0.name)=\($0.value.shown)" }.sorted())
    add(late.scope.inputs, to: &digest)
    if let settings = parts.settings {
      digest.add(
        settings.environment.inOrder(of: \.name).map { "\($0.name)=\($0.value.shown)" })
      digest.add(settings.workingDirectory.map(\.text.shown))
      digest.add(settings.standardInput.map(\.description) ?? "")
      for kind in HookKind.allCases {
        digest.add((settings.hooks[kind] ?? []).map { $0.work.shown?.text ?? "" })
      }
    }
    guard let expansion = late.parts.expansion else { return }
    digest.add(expansion.axes.map { "\($0.name)=\($0.values.shown)" })
    digest.add([expansion.included?.shown ?? "", expansion.excluded?.shown ?? ""])
  }

  /// Adds the inputs that a step gets from the use of its pipeline, and those that this gets from the use around it.
  private func add(_ inputs: LateInputs?, to digest: inout FingerprintDigest) {
    var next = inputs
    while let inputs = next {
      digest.add(inputs.params.map { "\($0.param.name)=\($0.value.shown)" })
      let passesOn = inputs.params.contains { input in
        input.value.templates.flatMap(\.expressions).flatMap(\.references)
          .contains { $0.root == .params }
      }
      next = passesOn ? inputs.outer.inputs : inputs.enclosing
    }
  }
}

extension PlannedStep {
  /// Whether it may run a script. What is known only while running may have one somewhere.
  fileprivate var usesShell: Bool {
    late != nil || work.shown?.script != nil || settings.hasScriptInHooks
  }
}

extension ReadyStep {
  fileprivate var usesShell: Bool {
    if case .script? = action { return true }
    return !readiness.isEmpty || settings.hasScriptInHooks
  }
}

extension StepSettings {
  fileprivate var hasScriptInHooks: Bool {
    HookKind.allCases.contains { hooks[$0].contains { $0.work.shown?.script != nil } }
  }
}

extension Array {
  /// The elements sorted by name, because their order in the file does not count; those with the same name keep their
  /// order.
  fileprivate func inOrder(of name: (Element) -> String) -> [Element] {
    if count < 2 { return self }
    let names = map(name)
    return indices.sorted { (names[$0], $0) < (names[$1], $1) }.map { self[$0] }
  }
}
