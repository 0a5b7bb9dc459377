// The combinations of a matrix: a product of axes, without those that are excluded, and with those
// that are included. As GitHub Actions has it.

import Diagnostics

/// What became of a matrix.
enum Combinations {
  case known([Instance])
  /// Axes that are known only while running, as they are written.
  case later(String)
  /// It was reported.
  case invalid
}

/// Why there are no combinations.
struct MatrixFault: Error {
  let message: String
}

/// A matrix of which every value is known.
package struct KnownMatrix {
  package static let maxInstanceCount = 4096

  let axes: [(name: String, values: [Value])]
  var included: [ValueMap] = []
  var excluded: [ValueMap] = []

  /// In order: the last axis changes fastest; what is included comes last.
  func instances() throws(MatrixFault) -> [Instance] {
    var combinations = try product()
    combinations.removeAll { combination in
      excluded.contains { $0.matches(combination) }
    }
    let originals = combinations
    for entry in included { add(entry, to: &combinations, originals) }
    try check(count: combinations.count)
    return try named(combinations)
  }

  private func product() throws(MatrixFault) -> [ValueMap] {
    guard !axes.isEmpty else { return [] }
    try check(
      count: axes.contains { $0.values.isEmpty }
        ? 0
        : axes.reduce(1) { count, axis in
          let (product, overflow) = count.multipliedReportingOverflow(by: axis.values.count)
          return overflow ? .max : product
        })
    var result = [ValueMap()]
    for axis in axes {
      result = result.flatMap { combination in
        axis.values.map { value in
          var extended = combination
          extended[axis.name] = value
          return extended
        }
      }
    }
    return result
  }

  private func check(count: Int) throws(MatrixFault) {
    guard count > Self.maxInstanceCount else { return }
    let number = count == .max ? "far too many" : "\(count)"
    throw MatrixFault(
      message: "has \(number) instances; \(Self.maxInstanceCount) is the limit")
  }

  /// Extends the combinations whose axes it agrees with; is one of its own if there are none.
  private func add(
    _ entry: ValueMap, to combinations: inout [ValueMap], _ originals: [ValueMap]
  ) {
    let shared = entry.names.filter { name in axes.contains { $0.name == name } }
    let matching = originals.indices.filter { index in
      shared.allSatisfy { originals[index][$0] == entry[$0] }
    }
    guard !matching.isEmpty else { return combinations.append(entry) }
    for index in matching {
      for (name, value) in zip(entry.names, entry.values) { combinations[index][name] = value }
    }
  }

  private func named(_ combinations: [ValueMap]) throws(MatrixFault) -> [Instance] {
    var suffixes: Set<String> = []
    var instances: [Instance] = []
    for values in combinations {
      let axisNames = axes.map(\.name).filter { values[$0] != nil }
      let isProduct = axisNames.count == axes.count && !axes.isEmpty
      let names = isProduct ? axisNames : values.names
      let parts = names.map { "\($0)=\(instanceText(values[$0] ?? .null))" }
      let suffix = "[" + parts.joined(separator: ",") + "]"
      guard suffixes.insert(suffix).inserted else {
        throw MatrixFault(message: "has two instances \(quoted(suffix))")
      }
      instances.append(Instance(values: values, suffix: suffix))
    }
    return instances
  }
}

extension ValueMap {
  /// Whether all of its members are equal to those of another map.
  fileprivate func matches(_ other: ValueMap) -> Bool {
    zip(names, values).allSatisfy { other[$0] == $1 }
  }
}

/// A value in an id: printable, and not endless.
private func instanceText(_ value: Value) -> String {
  let whole = value.text ?? value.json
  let text = printable(whole)
  guard text.utf8.count > 64 else { return text }
  // FNV-1a.
  var hash: UInt64 = 0xcbf2_9ce4_8422_2325
  for byte in whole.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
  return String(text.prefix(40)) + "~" + String(hash, radix: 16)
}
