// Which queue's operation runs on the calling thread.

import Dispatch
import Glibc

/// glibc has it since 2.30; Swift's module of it does not show it.
@_silgen_name("gettid")
private func gettid() -> Int32

enum CurrentQueue {
  private static let local = ThreadLocal()

  /// Dispatch's main queue may be served by another thread than the first: `dispatchMain` ends that.
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

  static func set(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    let old = local.value
    local.value = pointer
    return old
  }
}

extension OperationQueue? {
  /// Runs the body while this is the current queue.
  func asCurrent<Value>(_ body: () -> Value) -> Value {
    let old = CurrentQueue.set(map { Unmanaged.passUnretained($0).toOpaque() })
    defer { _ = CurrentQueue.set(old) }
    return body()
  }
}
