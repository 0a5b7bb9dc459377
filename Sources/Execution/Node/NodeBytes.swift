// How the files between oprun and its nodes are encoded: values that both tasks and results
// contain. No content of a file can make a reader trap.

import Caching
import Plans
import Running
import Scheduling

extension ByteWriter {
  mutating func addOptional<Item>(_ item: Item?, _ body: (inout ByteWriter, Item) -> Void) {
    add(item != nil)
    if let item { body(&self, item) }
  }

  mutating func add(_ key: CommandKey) {
    add(key.operation.index)
    switch key.role {
    case .attempt(let number):
      add(UInt8(0))
      add(number)
    case .hook(let kind, let index, let round):
      add(UInt8(1))
      add(kind.rawValue)
      add(index)
      add(round)
    case .probe(let index):
      add(UInt8(2))
      add(index)
    }
    add(key.repetition)
  }
}

extension ByteReader {
  mutating func optional<Item>(
    _ body: (inout ByteReader) throws(ByteReadFailure) -> Item
  ) throws(ByteReadFailure) -> Item? {
    switch try byte() {
    case 0: return nil
    case 1: return try body(&self)
    default: throw ByteReadFailure()
    }
  }

  mutating func number<Number: FixedWidthInteger>(
    in range: ClosedRange<Number>
  ) throws(ByteReadFailure) -> Number {
    guard let number = Number(exactly: try number()), range.contains(number) else {
      throw ByteReadFailure()
    }
    return number
  }

  mutating func time() throws(ByteReadFailure) -> Nanoseconds {
    try number(in: 0...Nanoseconds.max)
  }

  /// A text that can become a C string.
  mutating func word() throws(ByteReadFailure) -> String {
    let text = try text()
    if text.utf8.contains(0) { throw ByteReadFailure() }
    return text
  }

  mutating func words() throws(ByteReadFailure) -> [String] {
    try list { reader throws(ByteReadFailure) in try reader.word() }
  }

  mutating func key() throws(ByteReadFailure) -> CommandKey {
    let operation = OperationID(Int(try number(in: Int32(-1)...Int32.max)))
    let role: CommandRole
    switch try byte() {
    case 0: role = .attempt(try number(in: 0...Int.max))
    case 1:
      guard let kind = HookKind(rawValue: try byte()) else { throw ByteReadFailure() }
      role = .hook(
        kind, index: try number(in: 0...Int.max), round: try number(in: 1...Int.max))
    case 2: role = .probe(try number(in: 0...Int.max))
    default: throw ByteReadFailure()
    }
    return CommandKey(operation: operation, role: role, repetition: try number(in: 0...Int.max))
  }
}
