// From the name of an instance to what it may have been made from.

import Diagnostics

/// The name of a step that was made during a run: `build[os=linux]/unit[1]`.
struct InstanceName {
  private let name: String
  /// The parts in brackets, with the brackets.
  private let instances: [Range<String.Index>]

  init(_ name: String) {
    self.name = name
    var found: [Range<String.Index>] = []
    var depth = 0
    var start = name.startIndex
    for index in name.indices {
      if name[index] == "[" {
        if depth == 0 { start = index }
        depth += 1
      } else if name[index] == "]", depth > 0 {
        depth -= 1
        if depth == 0 { found.append(start..<name.index(after: index)) }
      }
    }
    instances = found
  }

  /// The names without one of the instances, then without two, and so on: `build/unit[1]`, `build[os=linux]/unit`,
  /// `build/unit`. Of a name with very many only those that are likely.
  var origins: [String] {
    let count = min(instances.count, Self.most)
    let sets = (1..<(1 << count)).sorted { ($0.nonzeroBitCount, $0) < ($1.nonzeroBitCount, $1) }
    return sets.map { without($0) }
  }

  private static let most = 6

  /// `build/unit` for `build/unit[1]`.
  static func group(of name: String) -> String {
    InstanceName(name).instances.last.map { String(name[..<$0.lowerBound]) } ?? name
  }

  /// `deploy[token=***]` for `deploy[token=***]~7`: names that contain secrets are told apart by numbers.
  static func withoutNumber(_ name: String) -> String {
    guard name.utf8.last.map({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) == true,
      let tilde = name.lastIndex(of: "~"), name[..<tilde].containsText(maskedValue),
      Int(name[name.index(after: tilde)...]) != nil
    else { return name }
    return String(name[..<tilde])
  }

  /// Whether it contains a secret.
  static func isMasked(_ name: String) -> Bool { withoutNumber(name) != name }

  private func without(_ set: Int) -> String {
    var text = ""
    var next = name.startIndex
    for (number, instance) in instances.enumerated() {
      text += name[next..<instance.lowerBound]
      if number >= Self.most || set & (1 << number) == 0 { text += name[instance] }
      next = instance.upperBound
    }
    return text + name[next...]
  }
}
