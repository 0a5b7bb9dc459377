// Lists of operations that take no memory besides that of the operations.

/// Operations in the order in which they were added; each is linked to the next, and owned by the
/// engine. An operation is in one chain at a time.
struct Chain {
  private var firstAddress: UInt = 0
  private var lastAddress: UInt = 0
  private(set) var count = 0
  /// True if all operations were plain, and in one queue, when the chain was made.
  private(set) var isUniform = true

  init() {}

  /// Makes a chain from its latest operation, if each is linked to the one before it.
  init(latest address: UInt) {
    lastAddress = address
    var address = address
    while let reference = Chain.reference(address) {
      address = reference._withUnsafeGuaranteedRef {
        check($0)
        let earlier = $0.neighbour
        $0.neighbour = firstAddress
        firstAddress = UInt(bitPattern: reference.toOpaque())
        return earlier
      }
    }
  }

  private mutating func check(_ operation: Operation) {
    count += 1
    if !operation.isPlain { isUniform = false }
    guard let last = Chain.reference(lastAddress) else { return }
    let queueNumber = last._withUnsafeGuaranteedRef { $0.queueNumber }
    if operation.queueNumber != queueNumber { isUniform = false }
  }

  var first: Unmanaged<Operation>? { Chain.reference(firstAddress) }

  mutating func append(_ reference: Unmanaged<Operation>) {
    let address = UInt(bitPattern: reference.toOpaque())
    reference._withUnsafeGuaranteedRef {
      check($0)
      $0.neighbour = 0
    }
    link(to: address)
    lastAddress = address
  }

  /// Appends all operations of another chain, in one step.
  mutating func append(_ other: Chain) {
    if other.count == 0 { return }
    link(to: other.firstAddress)
    lastAddress = other.lastAddress
    count += other.count
    if !other.isUniform { isUniform = false }
  }

  private mutating func link(to address: UInt) {
    if let reference = Chain.reference(lastAddress) {
      reference._withUnsafeGuaranteedRef { $0.neighbour = address }
    } else {
      firstAddress = address
    }
  }

  @discardableResult
  mutating func popFirst() -> Unmanaged<Operation>? {
    guard let first else { return nil }
    count -= 1
    firstAddress = first._withUnsafeGuaranteedRef { $0.neighbour }
    if firstAddress == 0 { self = Chain() }
    return first
  }

  /// All operations, in order.
  var all: [Operation] {
    var result: [Operation] = []
    var chain = self
    while let reference = chain.popFirst() { result.append(reference.takeUnretainedValue()) }
    return result
  }

  private static func reference(_ address: UInt) -> Unmanaged<Operation>? {
    UnsafeRawPointer(bitPattern: address).map { Unmanaged.fromOpaque($0) }
  }
}
