// The combinations of a matrix: the product of its axes, without excluded and with included ones.
// The rules are those of GitHub Actions.

import Diagnostics
package import Expressions

/// The result of evaluating a matrix.
package enum Combinations {
  case known([Instance])
  /// Some axes are known only during the run; the string contains them as they are written.
  case later(String)
  /// The matrix is invalid, which has been reported.
  case invalid
}

/// Why there are no combinations.
package struct MatrixFailure: Error {
  package let message: String
}

/// A matrix whose values are all known.
package struct KnownMatrix {
  package static let maxInstanceCount = 4096
  /// The maximum number of combinations before `exclude` removes some.
  private static let maxCombinationCount = 16 * maxInstanceCount

  package let axes: [(name: String, values: [Value])]
  private let axisNames: Set<ExactText>
  package var included: [ValueMap] = []
  package var excluded: [ValueMap] = []

  package init(
    axes: [(name: String, values: [Value])], included: [ValueMap] = [], excluded: [ValueMap] = []
  ) {
    self.axes = axes
    axisNames = Set(axes.map { ExactText(text: $0.name) })
    self.included = included
    self.excluded = excluded
  }

  /// The instances in order: the last axis changes fastest; included ones come last.
  package func instances(_ budget: inout MatrixBudget) throws(MatrixFailure) -> [Instance] {
    for entry in excluded {
      if let name = entry.names.first(where: { !axisNames.contains(ExactText(text: $0)) }) {
        throw MatrixFailure(message: "has no axis \(quoted(name)), which 'exclude' names")
      }
    }
    var instances = try product(&budget)
    var search = InstanceSearch(included.isEmpty ? [] : instances.map(\.values))
    for entry in included { try add(entry, to: &instances, &search, &budget) }
    try check(count: instances.count)
    if !included.isEmpty || !axes.allSatisfy(isDistinct) { try checkNames(of: instances) }
    return instances
  }

  /// True if no value of an axis is written like another one, or like the end of one.
  private func isDistinct(_ axis: (name: String, values: [Value])) -> Bool {
    let texts = axis.values.map(instanceText)
    return Set(texts).count == texts.count
      && !texts.contains { $0.utf8.contains(UInt8(ascii: ",")) }
  }

  private func checkNames(of instances: [Instance]) throws(MatrixFailure) {
    var suffixes: Set<String> = []
    for instance in instances {
      let (isNew, other) = suffixes.insert(instance.suffix)
      if isNew { continue }
      let isSame = other.utf8.elementsEqual(instance.suffix.utf8)
      throw MatrixFailure(
        message: "has two instances \(quoted(instance.suffix))"
          + (isSame ? "" : ", whose names have different bytes, but look the same"))
    }
  }

  private func product(_ budget: inout MatrixBudget) throws(MatrixFailure) -> [Instance] {
    guard !axes.isEmpty else { return [] }
    let numbers = try combinations(&budget)
    try budget.spend(values: numbers.count * axes.count)
    let names = ValueMap(axes.map { ($0.name, .null) })
    let texts = axes.indices.map { axis in
      let (start, end) = (axis == 0 ? "[" : ",", axis == axes.count - 1 ? "]" : "")
      return axes[axis].values.map { start + suffixPart(axes[axis].name, $0) + end }
    }
    var places = axes.map { _ in 0 }
    return numbers.map { number in
      var rest = number
      for axis in axes.indices.reversed() {
        (rest, places[axis]) = rest.quotientAndRemainder(dividingBy: axes[axis].values.count)
      }
      var suffix = texts[0][places[0]]
      for axis in 1..<axes.count { suffix += texts[axis][places[axis]] }
      let values = axes.indices.map { axes[$0].values[places[$0]] }
      return Instance(values: names.with(values), suffix: suffix)
    }
  }

  /// The numbers of the combinations that are not excluded.
  private func combinations(_ budget: inout MatrixBudget) throws(MatrixFailure) -> [Int] {
    let count =
      axes.contains { $0.values.isEmpty }
      ? 0
      : axes.reduce(1) { count, axis in
        let (product, overflow) = count.multipliedReportingOverflow(by: axis.values.count)
        return overflow ? .max : product
      }
    guard !excluded.isEmpty else {
      try check(count: count)
      return Array(0..<count)
    }
    try check(count: count, beforeExclude: true)
    let rest = try Exclusion(axes, count: count).rest(without: excluded, &budget)
    try check(count: rest.count)
    return rest
  }

  private func check(count: Int, beforeExclude: Bool = false) throws(MatrixFailure) {
    let limit = beforeExclude ? Self.maxCombinationCount : Self.maxInstanceCount
    guard count > limit else { return }
    let number = count == .max ? "far too many" : "\(count)"
    let what = beforeExclude ? "combinations before 'exclude'" : "instances"
    throw MatrixFailure(message: "has \(number) \(what); \(limit) is the limit")
  }

  /// Adds an entry of `include`: it extends the instances that have the same values on its axes;
  /// without such instances, it becomes another one.
  private func add(
    _ entry: ValueMap, to instances: inout [Instance], _ originals: inout InstanceSearch,
    _ budget: inout MatrixBudget
  ) throws(MatrixFailure) {
    let shared = entry.names.filter { axisNames.contains(ExactText(text: $0)) }
    let matching = try originals.indices(of: entry, by: shared, &budget)
    try budget.spend(values: max(matching.count, 1) * entry.count)
    guard !matching.isEmpty else {
      return instances.append(Instance(values: entry, suffix: suffix(ofIncluded: entry)))
    }
    for index in matching {
      for (name, value) in zip(entry.names, entry.values) { instances[index].values[name] = value }
    }
  }

  /// The suffix of an included entry, with only the axes if it has all of them.
  private func suffix(ofIncluded entry: ValueMap) -> String {
    let hasAll = !axes.isEmpty && axes.allSatisfy { entry[$0.name] != nil }
    let names = hasAll ? axes.map(\.name) : entry.names
    return "[" + names.map { suffixPart($0, entry[$0] ?? .null) }.joined(separator: ",") + "]"
  }

  private func suffixPart(_ name: String, _ value: Value) -> String {
    "\(name)=\(instanceText(value))"
  }
}

/// Finds the instances that an entry of `include` agrees with. Most entries name the same axes, so
/// there is a table for each of the first few sets of names.
private struct InstanceSearch {
  private let instances: [ValueMap]
  private var tables: [[ExactText]: [[Value?]: [Int]]] = [:]

  private static let maxTableCount = 16

  package init(_ instances: [ValueMap]) { self.instances = instances }

  package mutating func indices(
    of entry: ValueMap, by names: [String], _ budget: inout MatrixBudget
  ) throws(MatrixFailure) -> [Int] {
    let wanted = names.map { entry[$0] }
    let key = names.map(ExactText.init)
    if let table = tables[key] { return table[wanted] ?? [] }
    try budget.spend(comparisons: instances.count * max(names.count, 1))
    guard tables.count < Self.maxTableCount else {
      return instances.indices.filter { values(of: $0, names) == wanted }
    }
    let table = Dictionary(grouping: instances.indices) { values(of: $0, names) }
    tables[key] = table
    return table[wanted] ?? []
  }

  private func values(of instance: Int, _ names: [String]) -> [Value?] {
    names.map { instances[instance][$0] }
  }
}

/// A value as it appears in an id: printable, and of limited length.
private func instanceText(_ value: Value) -> String {
  let whole = value.text ?? value.json
  // Half a secret would not be found and masked where the id is displayed.
  guard withoutHidden(whole) == whole else { return shortened(whole, to: .max) }
  let text = shortened(whole)
  guard text.utf8.count > 64 else { return text }
  return String(text.prefix(40)) + "~" + String(stableHash(of: whole), radix: 16)
}

/// One combination of a matrix.
package struct Instance {
  package var values: ValueMap
  /// The suffix of the id: `[os=linux,swift=6]`.
  package let suffix: String
}
