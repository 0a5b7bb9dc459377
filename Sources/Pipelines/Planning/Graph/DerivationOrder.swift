// The order in which `vars` and the variables in `env` at top level are computed: each after the
// values that it names.

import Diagnostics
import Expressions
import Plans

struct DerivationOrder {
  enum Item: Hashable {
    /// An index into `environment`.
    case variable(Int)
    /// An index into `vars`.
    case derived(Int)
  }

  /// Values that depend on each other, so that none of them can be computed.
  struct Cycle {
    let message: Diagnostic
  }

  private(set) var items: [Item] = []
  private(set) var cycles: [Cycle] = []
  private let model: PipelineModel
  private let numbers: [String: Int]
  /// The indices into `environment` by name, in file order.
  private let places: [String: [Int]]

  init(_ model: PipelineModel) {
    self.model = model
    numbers = Dictionary(
      zip(model.vars.map(\.name), model.vars.indices), uniquingKeysWith: { first, _ in first })
    places = Dictionary(
      grouping: model.environment.indices, by: { model.environment[$0].name })
    let required = requirements()
    var done: Set<Item> = []
    for number in model.environment.indices { visit(.variable(number), required, &done) }
    for number in model.vars.indices { visit(.derived(number), required, &done) }
  }

  /// Adds everything that the item depends on, then the item. It is iterative, because chains may be
  /// long.
  private mutating func visit(
    _ item: Item, _ required: [Item: [Item]], _ done: inout Set<Item>
  ) {
    guard done.insert(item).inserted else { return }
    var path = [(item: item, next: 0)]
    /// The positions of the items in the path.
    var open = [item: 0]
    /// The length of the part of the path that belongs to, or precedes, a reported cycle: an item
    /// belongs to one at most.
    var reported = 0
    while let (current, next) = path.last {
      let others = required[current] ?? []
      guard next < others.count else {
        items.append(current)
        open[current] = nil
        path.removeLast()
        reported = min(reported, path.count)
        continue
      }
      path[path.count - 1].next += 1
      let other = others[next]
      if done.insert(other).inserted {
        open[other] = path.count
        path.append((other, 0))
      } else if let start = open[other], start >= reported {
        report(path[start...].map(\.item))
        reported = path.count
      }
    }
  }

  private mutating func report(_ cycle: [Item]) {
    // The cycle contains one of `vars`, because `env` alone is computed in file order.
    let start = cycle.firstIndex { if case .derived = $0 { true } else { false } } ?? 0
    let turned = cycle[start...] + cycle[..<start]
    let names = turned.prefix(Self.maxShown).map(name)
    let rest = turned.count > Self.maxShown ? ["…"] : []
    cycles.append(
      Cycle(
        message: PlanningMessage.derivedCycle(
          names + rest + names.prefix(1), at: span(cycle[start]))))
  }

  /// The maximum number of names of a cycle that are shown.
  private static var maxShown: Int { 8 }

  private func name(of item: Item) -> String {
    switch item {
    case .variable(let number): "env.\(model.environment[number].name)"
    case .derived(let number): "vars.\(model.vars[number].name)"
    }
  }

  private func span(_ item: Item) -> Span {
    switch item {
    case .variable(let number): model.environment[number].span
    case .derived(let number): model.vars[number].span
    }
  }

  // MARK: Requirements

  private func requirements() -> [Item: [Item]] {
    var required: [Item: [Item]] = [:]
    for number in model.vars.indices {
      for reference in model.vars[number].references {
        guard let name = reference.member else { continue }
        let other =
          reference.root == .env ? places[name]?.last.map(Item.variable) : derived(reference)
        if let other { required[.derived(number), default: []].append(other) }
      }
    }
    for number in model.environment.indices {
      let item = Item.variable(number)
      // A later value of a name replaces an earlier one.
      if let earlier = place(of: model.environment[number].name, before: number) {
        required[item, default: []].append(.variable(earlier))
      }
      for expression in model.environment[number].value.template?.expressions ?? [] {
        for reference in expression.references {
          if let other = derived(reference) { required[item, default: []].append(other) }
          guard reference.root == .env, let name = reference.member else { continue }
          if let earlier = place(of: name, before: number) {
            required[item, default: []].append(.variable(earlier))
          }
          // A variable cannot use a later value.
          if let later = place(of: name, after: number) {
            required[.variable(later), default: []].append(item)
          }
        }
      }
    }
    return required
  }

  private func derived(_ reference: Expression.Reference) -> Item? {
    guard reference.root == .vars else { return nil }
    return reference.member.flatMap { numbers[$0] }.map(Item.derived)
  }

  private func place(of name: String, before number: Int) -> Int? {
    guard let all = places[name] else { return nil }
    let index = firstIndex(in: all, from: number)
    return index > 0 ? all[index - 1] : nil
  }

  private func place(of name: String, after number: Int) -> Int? {
    guard let all = places[name] else { return nil }
    let index = firstIndex(in: all, from: number + 1)
    return index < all.count ? all[index] : nil
  }

  /// The index of the first number that is not less than another.
  private func firstIndex(in sorted: [Int], from number: Int) -> Int {
    var range = sorted.startIndex..<sorted.endIndex
    while !range.isEmpty {
      let middle = (range.lowerBound + range.upperBound) / 2
      range = sorted[middle] < number ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return range.lowerBound
  }
}
