// The limit on processor time of control groups (version 2), as a number of processors. Pure: it
// receives the contents of the kernel's files.

/// The number of processors that a group grants its processes, the least of its own and of all
/// enclosing ones. Nil if they limit nothing. `read` returns the bytes of a file, or nil.
package func grantedProcessorCount(
  of group: OwnControlGroup, read: (String) -> [UInt8]?
) -> Int? {
  var names = group.names ?? []
  var granted: Int?
  while true {
    let folder = names.reduce(group.root) { "\($0)/\($1)" }
    if let limit = read("\(folder)/cpu.max").flatMap(grantedProcessorCount(cpuMax:)) {
      granted = min(granted ?? limit, limit)
    }
    if names.popLast() == nil { return granted }
  }
}

/// The number of processors in the text of `cpu.max`, such as `150000 100000`: processor time in
/// each period. It is rounded up, because a part of a processor can be used. Nil if there is no
/// limit, or no such text.
package func grantedProcessorCount(cpuMax text: [UInt8]) -> Int? {
  let fields = text.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
  guard fields.count == 2, let quota = number(fields[0]), let period = number(fields[1]),
    period > 0
  else { return nil }
  let (whole, rest) = quota.quotientAndRemainder(dividingBy: period)
  return max(1, Int(clamping: whole + (rest > 0 ? 1 : 0)))
}

private func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
  UInt64(String(decoding: digits, as: UTF8.self))
}
