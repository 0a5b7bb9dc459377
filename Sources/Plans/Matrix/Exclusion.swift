// Finds the combinations of a matrix that `exclude` removes, by their numbers alone, before any
// combination is built.

import Expressions

/// The combinations of a matrix as numbers, of which the last axis changes fastest.
struct Exclusion {
  private let axes: [ExcludedAxis]
  private let axisNumbers: [ExactText: Int]
  private let count: Int

  package init(_ axes: [(name: String, values: [Value])], count: Int) {
    var stride = count
    self.axes = axes.map { _, values in
      stride /= max(values.count, 1)
      return ExcludedAxis(values, stride: stride)
    }
    axisNumbers = Dictionary(
      zip(axes.map { ExactText(text: $0.name) }, axes.indices),
      uniquingKeysWith: { first, _ in first })
    self.count = count
  }

  /// The numbers of the combinations that agree with none of the entries.
  package func rest(
    without entries: [ValueMap], _ budget: inout MatrixBudget
  ) throws(MatrixFailure) -> [Int] {
    let sets = namedSets(entries)
    try budget.spend(comparisons: count * sets.reduce(0) { $0 + max($1.axes.count, 1) })
    var isExcluded = [Bool](repeating: false, count: count)
    for set in sets {
      for number in 0..<count where !isExcluded[number] {
        var key = 0
        for axis in set.axes { key += axes[axis].key(of: number) }
        isExcluded[number] = set.keys.contains(key)
      }
    }
    return isExcluded.indices.filter { !isExcluded[$0] }
  }

  /// Groups the entries that name the same axes.
  private func namedSets(_ entries: [ValueMap]) -> [(axes: [Int], keys: Set<Int>)] {
    var places: [[Int]: Int] = [:]
    var sets: [(axes: [Int], keys: Set<Int>)] = []
    for entry in entries {
      guard let (named, key) = key(of: entry) else { continue }
      if let place = places[named] {
        sets[place].keys.insert(key)
      } else {
        places[named] = sets.count
        sets.append((named, [key]))
      }
    }
    return sets
  }

  /// The axes that an entry names, and their values as one number; nil if no combination agrees.
  private func key(of entry: ValueMap) -> (named: [Int], key: Int)? {
    var named: [Int] = []
    var key = 0
    for (name, value) in zip(entry.names, entry.values) {
      guard let number = axisNumbers[ExactText(text: name)], let part = axes[number].key(of: value)
      else {
        return nil
      }
      named.append(number)
      key += part
    }
    return (named.sorted(), key)
  }
}

/// An axis: equal values count as one.
private struct ExcludedAxis {
  private let places: [Value: Int]
  private let keys: [Int]
  private let stride: Int

  package init(_ values: [Value], stride: Int) {
    let places = Dictionary(
      zip(values, values.indices), uniquingKeysWith: { first, _ in first })
    self.places = places
    keys = values.map { (places[$0] ?? 0) * stride }
    self.stride = stride
  }

  /// The key of a combination.
  package func key(of number: Int) -> Int { keys[number / stride % keys.count] }

  /// The key of a value; nil if the axis does not have it.
  package func key(of value: Value) -> Int? { places[value].map { $0 * stride } }
}
