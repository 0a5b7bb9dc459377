// What is measured: each row is one job done by several peers.

import Dispatch
import Glibc

/// One way to do a row's job: returns when all is done.
struct Peer {
  let name: String
  let run: (Int) async -> Void
}

/// A job and who does it.
struct Row {
  let name: String
  let title: String
  let count: Int
  let peers: [Peer]
}

/// A graph of random dependencies on earlier operations, or on the latest ones, 0 to 3 each, the
/// same every time. In two flat arrays, so that reading it costs little beside what is measured.
struct RandomGraph {
  private var numbers: [Int32] = []
  private var ends: [Int32] = []

  var count: Int { ends.count }

  /// What an operation depends on.
  func dependencies(of index: Int) -> ArraySlice<Int32> {
    numbers[(index == 0 ? 0 : Int(ends[index - 1]))..<Int(ends[index])]
  }

  init(_ count: Int, within reach: Int = .max) {
    var state: UInt64 = 42
    func next(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    for index in 0..<count {
      for _ in 0..<(index == 0 ? 0 : next(4)) {
        numbers.append(Int32(index - 1 - next(min(index, reach))))
      }
      ends.append(Int32(numbers.count))
    }
  }
}

/// Counts how many are inside at once, and the most there ever were.
final class Crowd: @unchecked Sendable {
  private let lock = DispatchSemaphore(value: 1)
  private(set) var inside = 0
  private(set) var most = 0

  func enter() {
    lock.wait()
    inside += 1
    most = max(most, inside)
    lock.signal()
  }

  func leave() {
    lock.wait()
    inside -= 1
    lock.signal()
  }
}

/// The resident memory of this process, in bytes.
func bytesInUse() -> Int {
  var buffer = [UInt8](repeating: 0, count: 256)
  let file = open("/proc/self/statm", O_RDONLY)
  let count = read(file, &buffer, buffer.count)
  close(file)
  let fields = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self).split(separator: " ")
  return fields.count > 1 ? (Int(fields[1]) ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE))) : 0
}
