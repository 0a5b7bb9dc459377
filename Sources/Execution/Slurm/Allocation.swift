// The allocation of Slurm that oprun itself runs in: its nodes, as the variables of the job name them.

import Glibc

/// Whether oprun is in a job of Slurm, with nodes of its own.
package var isInAllocation: Bool { Allocation.own != nil }

/// Nodes that are ours until the job ends.
struct Allocation: Hashable {
  struct Node: Hashable {
    let name: String
    let processors: Int
  }

  let job: String
  /// How often Slurm has started the job again.
  let restart: Int
  let nodes: [Node]
  /// The index of the node that oprun is on; nil if it is on none of them, as after `salloc`.
  let own: Int?

  /// Nil outside of an allocation, or if the variables are not understood.
  init?(_ variable: (String) -> String?) {
    guard let job = variable("SLURM_JOB_ID").flatMap({ plainNumber($0) }),
      let names = variable("SLURM_JOB_NODELIST").flatMap({ Allocation.names(in: $0) }),
      let counts = variable("SLURM_JOB_CPUS_PER_NODE").flatMap({ Allocation.counts(in: $0) }),
      names.count == counts.count
    else { return nil }
    self.job = String(job)
    restart = variable("SLURM_RESTART_COUNT").flatMap { plainNumber($0) } ?? 0
    nodes = zip(names, counts).map { Node(name: $0, processors: $1) }
    own = variable("SLURMD_NODENAME").flatMap { names.firstIndex(of: $0) }
  }

  /// The one that oprun is in.
  static var own: Allocation? { Allocation { getenv($0).map { String(cString: $0) } } }

  var processorCount: Int { nodes.reduce(0) { $0 + $1.processors } }

  private static let mostNodes = 65_536

  /// The names in a list of nodes: `n[1-3,07],login`.
  static func names(in list: String) -> [String]? {
    var names: [String] = []
    for item in items(of: list[...]) {
      guard let more = expanded(item), names.count + more.count <= mostNodes else { return nil }
      names += more
    }
    return names.isEmpty ? nil : names
  }

  /// The parts between commas that are not in brackets.
  private static func items(of list: Substring) -> [Substring] {
    var items: [Substring] = []
    var depth = 0
    var start = list.startIndex
    for index in list.indices {
      switch list[index] {
      case "[": depth += 1
      case "]": depth -= 1
      case "," where depth == 0:
        items.append(list[start..<index])
        start = list.index(after: index)
      default: break
      }
    }
    return items + [list[start...]]
  }

  private static func expanded(_ item: Substring) -> [String]? {
    guard let open = item.firstIndex(of: "[") else {
      return item.isEmpty || item.contains("]") ? nil : [String(item)]
    }
    guard let close = item[open...].firstIndex(of: "]") else { return nil }
    let rest = item[item.index(after: close)...]
    guard let numbers = numbers(in: item[item.index(after: open)..<close]),
      let endings = rest.isEmpty ? [""] : expanded(rest),
      numbers.count <= mostNodes / max(1, endings.count)
    else { return nil }
    return numbers.flatMap { number in endings.map { "\(item[..<open])\(number)\($0)" } }
  }

  /// Numbers and ranges of them, with as many digits as written.
  private static func numbers(in text: Substring) -> [String]? {
    var all: [String] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let ends = part.split(separator: "-", omittingEmptySubsequences: false)
      guard let first = ends.first, let last = ends.last, ends.count <= 2, first.count < 10,
        let low = Int(first), let high = Int(last), low >= 0, low <= high, high - low < mostNodes
      else { return nil }
      all += (low...high).map { number in
        let digits = String(number)
        return String(repeating: "0", count: max(0, first.count - digits.count)) + digits
      }
    }
    return all.isEmpty ? nil : all
  }

  /// How many processors each node has: `8(x3),4`.
  static func counts(in text: String) -> [Int]? {
    var counts: [Int] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let pieces = part.split(separator: "(", omittingEmptySubsequences: false)
      guard let first = pieces.first.flatMap({ plainNumber($0) }), first > 0, pieces.count <= 2
      else { return nil }
      var times = 1
      if pieces.count == 2 {
        guard pieces[1].hasPrefix("x"), pieces[1].hasSuffix(")"),
          let number = plainNumber(pieces[1].dropFirst().dropLast()), number > 0
        else { return nil }
        times = number
      }
      guard counts.count + times <= mostNodes else { return nil }
      counts += Array(repeating: first, count: times)
    }
    return counts
  }
}

/// Which processors of an allocation are free. The node that oprun is on comes first, because a process
/// there costs the least.
struct AllocationRoom {
  private let allocation: Allocation
  private var free: [Int]
  private var lost: Set<Int> = []

  init(_ allocation: Allocation) {
    self.allocation = allocation
    free = allocation.nodes.map(\.processors)
  }

  /// The most processors that a command can have; 0 if no node is left.
  var largest: Int {
    allocation.nodes.indices.filter { !lost.contains($0) }
      .map { allocation.nodes[$0].processors }.max() ?? 0
  }

  /// Takes processors of one node, of a node that is not avoided if there is another; nil if there are not
  /// enough now.
  mutating func take(_ count: Int, avoiding avoided: Set<Int> = []) -> Int? {
    let usable = allocation.nodes.indices.filter { !lost.contains($0) }
    let fitting = usable.filter { allocation.nodes[$0].processors >= count }
    let preferred = fitting.filter { !avoided.contains($0) }
    let candidates = (preferred.isEmpty ? fitting : preferred).filter { free[$0] >= count }
    let own = candidates.first { $0 == allocation.own }
    guard let node = own ?? candidates.max(by: { free[$0] < free[$1] }) else { return nil }
    free[node] -= count
    return node
  }

  mutating func putBack(_ count: Int, on node: Int) { free[node] += count }

  /// Nothing is placed there any more. The node that oprun is on is never lost.
  mutating func lose(_ node: Int) -> Bool {
    node != allocation.own && lost.insert(node).inserted
  }
}
