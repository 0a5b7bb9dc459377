// A table that is filled once and then only read, at the speed of a bare pointer.

/// A table that owns its memory.
///
/// It is `@unchecked` because nothing writes to it after `init`, so any thread may read.
final class FixedTable<Element: BitwiseCopyable & Sendable>: @unchecked Sendable {
  let start: UnsafePointer<Element>
  let count: Int
  private let memory: UnsafeMutableBufferPointer<Element>

  init(_ elements: [Element]) {
    memory = .allocate(capacity: max(1, elements.count))
    count = elements.count
    _ = memory.initialize(from: elements)
    // The address is never nil, because at least one element was requested.
    guard let address = memory.baseAddress else { preconditionFailure("memory without a place") }
    start = UnsafePointer(address)
  }

  deinit { memory.deallocate() }
}
