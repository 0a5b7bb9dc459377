// Parses the words of a command line into the inputs of a step, by the step's table.

import BuiltinSteps
import Diagnostics

/// Reads the words after the step's name. An option is a key of the table, with dashes or underscores.
struct InputParser {
  /// `--with-env headers=TOKEN_HEADER` takes a value from the environment, because the list of
  /// processes shows arguments to everybody.
  static let fromEnvironment = "--with-env"

  private let environment: (String) -> String?
  private var rest: ArraySlice<String>
  private var inputs: Inputs

  static func parse(
    _ words: ArraySlice<String>, of step: BuiltinStep, environment: (String) -> String?
  ) throws(UsageFailure) -> Inputs {
    try withoutActuallyEscaping(environment) { (lookUp) throws(UsageFailure) in
      var parser = InputParser(environment: lookUp, rest: words, inputs: Inputs(step))
      try parser.readWords()
      if !parser.inputs.wantsHelp { try parser.checkWhole() }
      return parser.inputs
    }
  }

  /// The options with names of existing files, whatever their bytes are.
  private static let filesToRead: Set = ["from", "images"]

  private mutating func readWords() throws(UsageFailure) {
    while let word = rest.popFirst(), !inputs.wantsHelp {
      if word == "--help" || word == "-h" {
        inputs.wantsHelp = true
      } else if word.hasPrefix("--"), word.count > 2 {
        try readOption(word)
      } else {
        guard ByteText.isWhole(word) else { throw .undecodable(word) }
        inputs.operands.append(word)
      }
    }
  }

  /// Reads `--to thumbs/`, `--to=thumbs/`, `--resume=false`, `--resume`.
  private mutating func readOption(_ word: String) throws(UsageFailure) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let attached = parts.count > 1 ? String(parts[1]) : nil
    if parts[0] == Self.fromEnvironment { return try readFromEnvironment(attached) }
    guard ByteText.isWhole(String(parts[0])) else { throw .undecodable(word) }
    let key = try key(String(parts[0].dropFirst(2)))
    if attached == nil, key.type == .boolean { return try add("true", to: key) }
    guard let text = attached ?? rest.popFirst() else {
      throw .missingValue(of: key, inputs.step)
    }
    guard ByteText.isWhole(text) || Self.filesToRead.contains(key.name) else {
      throw .undecodable(attached == nil ? text : word)
    }
    try add(text, to: key)
  }

  private mutating func readFromEnvironment(_ attached: String?) throws(UsageFailure) {
    let text = attached ?? rest.popFirst() ?? ""
    let parts = text.split(separator: "=", maxSplits: 1)
    guard parts.count == 2 else { throw .wrongVariable(text, inputs.step) }
    let key = try key(String(parts[0]))
    guard let value = environment(String(parts[1])) else {
      throw .unsetVariable(String(parts[1]), of: key, inputs.step)
    }
    try add(value, to: key)
  }

  private func key(_ flag: String) throws(UsageFailure) -> BuiltinKey {
    let name = String(flag.map { $0 == "-" ? "_" : $0 })
    guard let key = inputs.step.key(name) else { throw .unknownOption(flag, of: inputs.step) }
    return key
  }

  private mutating func add(_ text: String, to key: BuiltinKey) throws(UsageFailure) {
    guard let value = key.type.value(of: text) else {
      throw .wrongValue(text, for: key, inputs.step)
    }
    guard key.type.isRepeatable || !inputs.isGiven(key.name) else {
      throw .givenTwice(key, inputs.step)
    }
    inputs.add(value, to: key)
  }

  private func checkWhole() throws(UsageFailure) {
    let step = inputs.step
    for key in step.keys where key.isRequired && !inputs.isGiven(key.name) {
      throw .missingKey(key, step)
    }
    for group in step.groups {
      if let fault = group.fault(in: inputs.isGiven) { throw UsageFailure(fault, step: step.name) }
    }
    for rule in step.rules {
      if let fault = rule.fault(in: inputs) { throw UsageFailure(fault, step) }
    }
  }
}
