// The queue whose operation runs on the calling thread.

import Dispatch
import Glibc

/// glibc has `gettid` since 2.30; Swift's Glibc module does not expose it.
@_silgen_name("gettid")
private func gettid() -> Int32

enum CurrentQueue {
  /// A queue, or none, without a reference: it lives as long as it has an operation that has not
  /// been retired, and is the current queue no longer than that.
  struct Mark: @unchecked Sendable {  // a pointer that is only used while the queue lives
    fileprivate let pointer: UnsafeMutableRawPointer?

    fileprivate init(pointer: UnsafeMutableRawPointer?) { self.pointer = pointer }

    init(_ queue: OperationQueue? = nil) {
      pointer = queue.map { Unmanaged.passUnretained($0).toOpaque() }
    }
  }

  private static let local = ThreadLocal()

  /// Dispatch's main queue may be served by a thread other than the first, because `dispatchMain`
  /// ends that one.
  private static let mainKey: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  static var value: OperationQueue? {
    if let pointer = local.value {
      return Unmanaged<OperationQueue>.fromOpaque(pointer).takeUnretainedValue()
    }
    let isMain = getpid() == gettid() || DispatchQueue.getSpecific(key: mainKey) == true
    return isMain ? .main : nil
  }

  /// Makes a queue the current one of this thread; returns the previous one.
  @discardableResult
  static func exchange(_ mark: Mark) -> Mark {
    let old = Mark(pointer: local.value)
    local.value = mark.pointer
    return old
  }
}

extension OperationQueue? {
  /// Runs the body while this is the current queue.
  func asCurrent<Value>(_ body: () -> Value) -> Value {
    let old = CurrentQueue.exchange(CurrentQueue.Mark(self))
    defer { CurrentQueue.exchange(old) }
    return body()
  }
}
