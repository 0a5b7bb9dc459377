// A table that is filled once and then only read, at the speed of a bare pointer.

/// A table that owns its memory.
///
/// It is `@unchecked` because nothing writes to it after `init`, so any thread may read.
final class FixedTable<Element: BitwiseCopyable & Sendable>: @unchecked Sendable {
  let start: UnsafePointer<Element>
  let count: Int
  private let memory: UnsafeMutableBufferPointer<Element>

  convenience init(_ elements: [Element]) {
    self.init(count: elements.count) { _ = $0.initialize(from: elements) }
  }

  /// `fill` sets all elements.
  init(count: Int, _ fill: (UnsafeMutableBufferPointer<Element>) -> Void) {
    memory = .allocate(capacity: max(1, count))
    self.count = count
    fill(memory)
    // The address is never nil, because at least one element was requested.
    guard let address = memory.baseAddress else { preconditionFailure("memory without a place") }
    start = UnsafePointer(address)
  }

  deinit { memory.deallocate() }
}
