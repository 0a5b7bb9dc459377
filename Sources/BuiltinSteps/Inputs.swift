// The inputs of a step: checked values, with the table's defaults for the others.

/// The inputs of one step, from `with:` or the command line.
package struct Inputs: Sendable {
  package let step: BuiltinStep
  /// The words that are not options; only the commands of the cache have such words.
  package var operands: [String] = []
  package var wantsHelp = false
  private var values: [String: [BuiltinValue]] = [:]

  package init(_ step: BuiltinStep) { self.step = step }

  package func isGiven(_ name: String) -> Bool { values[name] != nil }

  /// Adds an element to a list or a map, or sets the value of any other key.
  package mutating func add(_ value: BuiltinValue, to key: BuiltinKey) {
    if key.type.isRepeatable {
      values[key.name, default: []].append(value)
    } else {
      values[key.name] = [value]
    }
  }

  private func all(_ name: String) -> [BuiltinValue] {
    guard let key = step.key(name) else {
      preconditionFailure("'\(step.name)' has no key '\(name)' in its table")
    }
    if let given = values[name] { return given }
    return key.defaultValue.map { text in
      guard let value = key.type.value(of: text) else {
        preconditionFailure("the default of '\(name)' is not what it wants: \(text)")
      }
      return [value]
    } ?? []
  }

  package func texts(_ name: String) -> [String] {
    all(name).compactMap { if case .text(let text) = $0 { text } else { nil } }
  }

  package func text(_ name: String) -> String? { texts(name).first }

  package func integers(_ name: String) -> [Int] {
    all(name).compactMap { if case .integer(let number) = $0 { number } else { nil } }
  }

  package func pairs(_ name: String) -> [(name: String, value: String)] {
    all(name).compactMap { if case .pair(let name, let value) = $0 { (name, value) } else { nil } }
  }

  package func isOn(_ name: String) -> Bool { all(name).first == .boolean(true) }

  /// The value of a key that has a default.
  package func integer(_ name: String) -> Int {
    guard let number = integers(name).first else { preconditionFailure(Self.noDefault(name)) }
    return number
  }

  /// The value in bytes of a key that has a default.
  package func size(_ name: String) -> Int {
    guard case .size(let size)? = all(name).first else {
      preconditionFailure(Self.noDefault(name))
    }
    return size
  }

  /// The value in nanoseconds of a key that has a default.
  package func duration(_ name: String) -> Int64 {
    guard case .duration(let duration)? = all(name).first else {
      preconditionFailure(Self.noDefault(name))
    }
    return duration
  }

  /// The value of a duration in which zero means no limit, as for curl.
  package func timeLimit(_ name: String) -> Int64 {
    let limit = duration(name)
    return limit > 0 ? limit : .max
  }

  /// The chosen word as the type whose raw values are the words.
  package func choice<Choice: RawRepresentable<String>>(_ name: String) -> Choice {
    guard let choice = text(name).flatMap(Choice.init(rawValue:)) else {
      preconditionFailure(Self.noDefault(name))
    }
    return choice
  }

  private static func noDefault(_ name: String) -> String {
    "'\(name)' is read as if it had a default, or as another type"
  }
}

extension BuiltinType {
  /// True if an option of this type can be given several times.
  package var isRepeatable: Bool {
    switch self {
    case .list, .map: true
    case .text, .boolean, .integer, .duration, .size, .choice, .sha256, .url, .server, .color: false
    }
  }
}
