// A short form of a plan in which nothing had changed: enough to find out which steps a change of some files
// concerns, and to plan these without the others. docs/design-cache.md, "A run that repeats another".

/// The short form of a step of a plan.
package struct StepOutline {
  /// Its number in the plan.
  package let number: Int
  /// Stands for what it is as it is written.
  package let fingerprint: Int
  /// Its lines in the file, as a range of bytes.
  package let lines: Range<Int>
  /// The steps that it depends on, by their places in the record.
  package let dependencies: [Int]

  package init(number: Int, fingerprint: Int, lines: Range<Int>, dependencies: [Int]) {
    self.number = number
    self.fingerprint = fingerprint
    self.lines = lines
    self.dependencies = dependencies
  }
}

extension StepOutline {
  func write(to writer: inout ByteWriter) {
    writer.add(number)
    writer.add(fingerprint)
    writer.add(lines.lowerBound)
    writer.add(lines.upperBound)
    writer.add(dependencies) { $0.add($1) }
  }

  init(from reader: inout ByteReader) throws(ByteReadFailure) {
    number = try reader.number()
    fingerprint = try reader.number()
    let start = try reader.number()
    let end = try reader.number()
    guard start >= 0, end >= start else { throw ByteReadFailure() }
    lines = start..<end
    dependencies = try reader.list { reader throws(ByteReadFailure) in try reader.number() }
  }
}

/// The steps that must be looked at, because files of some of them have changed.
package struct ChangedPart {
  /// Planning fewer steps than these takes less time than finding out which to plan.
  private static let leastStepCount = 64
  /// The steps that each step depends on, which come before it. All are known by their places.
  private let dependencies: [[Int]]
  private var changed: [Int] = []

  /// Nil if it is not worth finding out.
  package init?(_ dependencies: [[Int]]) {
    let isInOrder = dependencies.enumerated().allSatisfy { place, others in
      others.allSatisfy { 0..<place ~= $0 }
    }
    guard dependencies.count >= Self.leastStepCount, isInOrder else { return nil }
    self.dependencies = dependencies
  }

  /// Adds a step that has changed. False if there are too many.
  package mutating func add(_ place: Int) -> Bool {
    changed.append(place)
    // One change may concern everything; many of them are noticed at the end.
    return changed.count == 1 ? steps != nil : changed.count <= dependencies.count / 4
  }

  /// The steps that have changed, those that depend on them, and everything that these need; in the order of their
  /// places. Nil if they are so many that all steps may as well be planned.
  package var steps: [Int]? {
    var isPart = [Bool](repeating: false, count: dependencies.count)
    for place in changed { isPart[place] = true }
    for (place, others) in dependencies.enumerated() where !isPart[place] {
      isPart[place] = others.contains { isPart[$0] }
    }
    for (place, others) in dependencies.enumerated().reversed() where isPart[place] {
      for other in others { isPart[other] = true }
    }
    let steps = isPart.indices.filter { isPart[$0] }
    return steps.count <= dependencies.count / 4 ? steps : nil
  }
}
