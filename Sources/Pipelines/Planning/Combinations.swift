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
  /// Of all instances together.
  private static let maxIncludedCount = 1_000_000

  let axes: [(name: String, values: [Value])]
  var included: [ValueMap] = []
  var excluded: [ValueMap] = []

  /// In order: the last axis changes fastest; what is included comes last.
  func instances() throws(MatrixFault) -> [Instance] {
    var instances = try product()
    if !excluded.isEmpty {
      var search = InstanceSearch(instances.map(\.values))
      var isExcluded = instances.map { _ in false }
      for entry in excluded {
        for index in search.indices(of: entry, by: entry.names) { isExcluded[index] = true }
      }
      instances = zip(instances, isExcluded).filter { !$1 }.map(\.0)
    }
    var search = InstanceSearch(included.isEmpty ? [] : instances.map(\.values))
    var addedCount = 0
    for entry in included {
      addedCount += add(entry, to: &instances, &search)
      guard addedCount <= Self.maxIncludedCount else {
        throw MatrixFault(
          message: "is given more than 1,000,000 values by 'include', which is the limit")
      }
    }
    try check(count: instances.count)
    if !included.isEmpty || !axes.allSatisfy(isDistinct) { try checkNames(of: instances) }
    return instances
  }

  /// Whether no value of an axis reads as another one, or as the end of one.
  private func isDistinct(_ axis: (name: String, values: [Value])) -> Bool {
    let texts = axis.values.map(instanceText)
    return Set(texts).count == texts.count
      && !texts.contains { $0.utf8.contains(UInt8(ascii: ",")) }
  }

  private func checkNames(of instances: [Instance]) throws(MatrixFault) {
    var suffixes: Set<String> = []
    for instance in instances where !suffixes.insert(instance.suffix).inserted {
      throw MatrixFault(message: "has two instances \(quoted(instance.suffix))")
    }
  }

  private func product() throws(MatrixFault) -> [Instance] {
    guard !axes.isEmpty else { return [] }
    let count =
      axes.contains { $0.values.isEmpty }
      ? 0
      : axes.reduce(1) { count, axis in
        let (product, overflow) = count.multipliedReportingOverflow(by: axis.values.count)
        return overflow ? .max : product
      }
    try check(count: count)
    let names = ValueMap(axes.map { ($0.name, .null) })
    let texts = axes.indices.map { axis in
      axes[axis].values.map { (axis == 0 ? "[" : ",") + suffixPart(axes[axis].name, $0) }
    }
    var places = axes.map { _ in 0 }
    return (0..<count).map { number in
      var rest = number
      for axis in axes.indices.reversed() {
        (rest, places[axis]) = rest.quotientAndRemainder(dividingBy: axes[axis].values.count)
      }
      var suffix = ""
      for axis in axes.indices { suffix += texts[axis][places[axis]] }
      let values = axes.indices.map { axes[$0].values[places[$0]] }
      return Instance(values: names.with(values), suffix: suffix + "]")
    }
  }

  private func check(count: Int) throws(MatrixFault) {
    guard count > Self.maxInstanceCount else { return }
    let number = count == .max ? "far too many" : "\(count)"
    throw MatrixFault(
      message: "has \(number) instances; \(Self.maxInstanceCount) is the limit")
  }

  /// Extends the instances whose axes it agrees with; is one of its own if there are none. Returns how
  /// many values that takes.
  private func add(
    _ entry: ValueMap, to instances: inout [Instance], _ originals: inout InstanceSearch
  ) -> Int {
    let shared = entry.names.filter { name in axes.contains { $0.name == name } }
    let matching = originals.indices(of: entry, by: shared)
    guard !matching.isEmpty else {
      instances.append(Instance(values: entry, suffix: suffix(ofIncluded: entry)))
      return entry.names.count
    }
    for index in matching {
      for (name, value) in zip(entry.names, entry.values) { instances[index].values[name] = value }
    }
    return matching.count * entry.names.count
  }

  /// With the axes alone, if it has them all.
  private func suffix(ofIncluded entry: ValueMap) -> String {
    let axisNames = axes.map(\.name)
    let hasAll = !axes.isEmpty && axisNames.allSatisfy { entry[$0] != nil }
    let names = hasAll ? axisNames : entry.names
    return "[" + names.map { suffixPart($0, entry[$0] ?? .null) }.joined(separator: ",") + "]"
  }

  private func suffixPart(_ name: String, _ value: Value) -> String {
    "\(name)=\(instanceText(value))"
  }
}

/// Finds the instances that an entry of `include` or `exclude` agrees with. Most entries name the
/// same axes: for the first few sets of names there is a table.
private struct InstanceSearch {
  private let instances: [ValueMap]
  private var tables: [[String]: [[Value?]: [Int]]] = [:]

  private static let maxTableCount = 16

  init(_ instances: [ValueMap]) { self.instances = instances }

  mutating func indices(of entry: ValueMap, by names: [String]) -> [Int] {
    let wanted = names.map { entry[$0] }
    if let table = tables[names] { return table[wanted] ?? [] }
    guard tables.count < Self.maxTableCount else {
      return instances.indices.filter { values(of: $0, names) == wanted }
    }
    let table = Dictionary(grouping: instances.indices) { values(of: $0, names) }
    tables[names] = table
    return table[wanted] ?? []
  }

  private func values(of instance: Int, _ names: [String]) -> [Value?] {
    names.map { instances[instance][$0] }
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
