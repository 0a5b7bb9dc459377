// The patterns of `matches`: an automaton that is in all its states at once, as Thompson described
// it (https://swtch.com/~rsc/regexp/regexp1.html). Each character of a text is looked at once, in
// at most as many states as the pattern has, so the time is at most proportional to their product.

/// A pattern that can be searched for in texts.
struct TextPattern {
  private enum Instruction {
    case set(ScalarSet)
    case start
    case end
    /// Continues at both instructions.
    case split(Int, Int)
    case found
  }

  static let maxStateCount = 10_000

  private var program: [Instruction] = []

  var stateCount: Int { program.count }

  init(_ pattern: String) throws(TextPatternFailure) {
    try emit(try PatternParser.node(of: pattern))
    program.append(.found)
  }

  // MARK: From the pattern to the automaton

  private mutating func append(_ instruction: Instruction) throws(TextPatternFailure) {
    guard program.count < Self.maxStateCount else {
      throw TextPatternFailure(
        reason: "its repetitions make more than \(Self.maxStateCount) states, which is the limit")
    }
    program.append(instruction)
  }

  private mutating func emit(_ node: PatternNode) throws(TextPatternFailure) {
    switch node {
    case .set(let set): try append(.set(set))
    case .start: try append(.start)
    case .end: try append(.end)
    case .sequence(let nodes): for node in nodes { try emit(node) }
    case .choice(let nodes): try emit(choice: nodes)
    case .repeated(let node, let minimum, let maximum):
      for _ in 0..<minimum {
        let count = program.count
        try emit(node)
        // Repeating nothing gives nothing.
        if program.count == count { break }
      }
      if let maximum {
        try emit(optional: node, count: maximum - minimum)
      } else {
        let start = program.count
        try append(.split(start + 1, 0))
        try emit(node)
        try append(.split(start, start))
        program[start] = .split(start + 1, program.count)
      }
    }
  }

  private mutating func emit(choice nodes: [PatternNode]) throws(TextPatternFailure) {
    var ends: [Int] = []
    for (number, node) in nodes.enumerated() {
      let start = program.count
      let isLast = number == nodes.count - 1
      if !isLast { try append(.split(start + 1, 0)) }
      try emit(node)
      if isLast { break }
      ends.append(program.count)
      try append(.split(0, 0))
      program[start] = .split(start + 1, program.count)
    }
    for end in ends { program[end] = .split(program.count, program.count) }
  }

  /// Emits repetitions of which each may be the last.
  private mutating func emit(optional node: PatternNode, count: Int) throws(TextPatternFailure) {
    var splits: [Int] = []
    for _ in 0..<count {
      splits.append(program.count)
      try append(.split(program.count + 1, 0))
      try emit(node)
    }
    for split in splits { program[split] = .split(split + 1, program.count) }
  }

  // MARK: Matching

  /// True if the pattern is found anywhere in the text. Every state in which a character is
  /// examined is one step; nil once there are no steps left.
  func isFound(in text: String, steps: inout Int) -> Bool? {
    var current = StateSet(program.count)
    var following = StateSet(program.count)
    var scalars = text.unicodeScalars.makeIterator()
    var scalar = scalars.next()
    var isStart = true
    while true {
      // A match may begin here.
      if enter(0, &current, isStart: isStart, isEnd: scalar == nil) { return true }
      steps -= current.states.count + 1
      if steps < 0 { return nil }
      guard let read = scalar else { return false }
      scalar = scalars.next()
      isStart = false
      following.removeAll()
      for state in current.states {
        guard case .set(let set) = program[state], set.contains(read.value) else { continue }
        if enter(state + 1, &following, isStart: false, isEnd: scalar == nil) { return true }
      }
      swap(&current, &following)
    }
  }

  /// Adds a state and all that follow it without a character; true if the pattern is found.
  private func enter(
    _ state: Int, _ states: inout StateSet, isStart: Bool, isEnd: Bool
  ) -> Bool {
    states.waiting.append(state)
    while let state = states.waiting.popLast() {
      guard states.insert(state) else { continue }
      switch program[state] {
      case .set: break
      case .start: if isStart { states.waiting.append(state + 1) }
      case .end: if isEnd { states.waiting.append(state + 1) }
      case .split(let first, let second):
        states.waiting.append(second)
        states.waiting.append(first)
      case .found: return true
      }
    }
    return false
  }
}

/// The states that the automaton is in.
private struct StateSet {
  private(set) var states: [Int] = []
  /// States that are about to be entered.
  var waiting: [Int] = []
  private var isIn: [Bool]

  init(_ count: Int) { isIn = Array(repeating: false, count: count) }

  mutating func insert(_ state: Int) -> Bool {
    if isIn[state] { return false }
    isIn[state] = true
    states.append(state)
    return true
  }

  mutating func removeAll() {
    for state in states { isIn[state] = false }
    states.removeAll(keepingCapacity: true)
  }
}
