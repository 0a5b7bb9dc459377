// Finds instances of matrices by their ids and by their values without examining each of them.

import Expressions
import Plans
import Scheduling

/// An index that all copies of a planner share; its contents can be recreated at any time.
final class InstanceIndex {
  /// Instances of one group whose matrices have the same members.
  private struct Shape {
    let names: [String]
    let members: [Int]
    /// The instances by the names that are compared, then by the values.
    var byValues: [[String]: [[Value]: [Int]]] = [:]
  }

  private var suffixes: [Int: [String: Int]] = [:]
  private var shapes: [Int: [Shape]] = [:]

  /// The member of a group whose id has this suffix.
  func member(of group: Int, _ suffix: String, in planner: Planner) -> Int? {
    if let known = suffixes[group] { return known[suffix] }
    var found: [String: Int] = [:]
    for member in planner.groups[group]?.members ?? [] {
      if let instance = planner.instance(of: member) { found[instance.suffix] = member }
    }
    suffixes[group] = found
    return found[suffix]
  }

  /// The members of a group with the same values for the names that they share with `values`, in order.
  func members(of group: Int, matching values: ValueMap, in planner: Planner) -> [Int] {
    if shapes[group] == nil { shapes[group] = Self.shapes(of: group, in: planner) }
    let count = shapes[group]?.count ?? 0
    let found = (0..<count).flatMap { members(of: group, $0, matching: values, in: planner) }
    return count > 1 ? found.sorted() : found
  }

  private func members(
    of group: Int, _ number: Int, matching values: ValueMap, in planner: Planner
  ) -> [Int] {
    guard let shape = shapes[group]?[number] else { return [] }
    let shared = shape.names.filter { values[$0] != nil }
    let wanted = shared.compactMap { values[$0] }
    if let known = shape.byValues[shared] { return known[wanted] ?? [] }
    let table = Dictionary(grouping: shape.members) { member in
      shared.compactMap { planner.instance(of: member)?.values[$0] }
    }
    shapes[group]?[number].byValues[shared] = table
    return table[wanted] ?? []
  }

  private static func shapes(of group: Int, in planner: Planner) -> [Shape] {
    let members = planner.groups[group]?.members ?? []
    let byNames = Dictionary(grouping: members) { planner.instance(of: $0)?.values.names ?? [] }
    return byNames.map { Shape(names: $0, members: $1) }
  }
}

extension Planner {
  func instance(of operation: Int) -> Instance? {
    addresses[operation].instance.map { instances[$0] }
  }
}
