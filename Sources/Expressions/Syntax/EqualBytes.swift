// Whether two stretches of bytes are the same.

@inlinable
package func areEqual(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>)
  -> Bool
{
  guard left.count == right.count, let first = left.baseAddress, let second = right.baseAddress
  else { return left.count == right.count }
  return areEqual(first, second, count: left.count)
}

/// Whether two stretches of `count` bytes are equal; eight at a time.
@inlinable
@inline(__always)
package func areEqual(_ left: UnsafePointer<UInt8>, _ right: UnsafePointer<UInt8>, count: Int)
  -> Bool
{
  let left = UnsafeRawPointer(left)
  let right = UnsafeRawPointer(right)
  var index = 0
  while index + 8 <= count {
    let word = left.loadUnaligned(fromByteOffset: index, as: UInt64.self)
    if word != right.loadUnaligned(fromByteOffset: index, as: UInt64.self) { return false }
    index += 8
  }
  while index < count {
    let byte = left.load(fromByteOffset: index, as: UInt8.self)
    if byte != right.load(fromByteOffset: index, as: UInt8.self) { return false }
    index += 1
  }
  return true
}
