// The allocation of Slurm that oprun itself runs in, with its nodes, from the variables of the job.

import Diagnostics
import Glibc

/// True if oprun is in a job of Slurm, with nodes of its own.
package var isInAllocation: Bool { Allocation.own != nil }

/// Nodes that oprun has until the job ends.
struct Allocation: Hashable {
  struct Node: Hashable {
    let name: String
    let processors: Int
    /// The memory in MiB; nil if the job does not say.
    var memory: Int?
    /// The number of GPUs; nil if the job does not say.
    var gpus: Int?
  }

  let job: String
  /// The number of times that Slurm has restarted the job.
  let restart: Int
  let nodes: [Node]
  /// The index of the node that oprun is on; nil if it is on none of them, as after `salloc`.
  let own: Int?

  /// Reads the variables of the job; nil outside of an allocation, or if they are not understood.
  init?(_ variable: (String) -> String?) {
    guard let job = variable("SLURM_JOB_ID").flatMap({ plainNumber($0) }),
      let names = variable("SLURM_JOB_NODELIST").flatMap({ Allocation.names(in: $0) }),
      let counts = variable("SLURM_JOB_CPUS_PER_NODE").flatMap({ Allocation.counts(in: $0) }),
      names.count == counts.count
    else { return nil }
    self.job = String(job)
    restart = variable("SLURM_RESTART_COUNT").flatMap { plainNumber($0) } ?? 0
    let memory = variable("SLURM_MEM_PER_NODE").flatMap { plainNumber($0) }
    let share = variable("SLURM_MEM_PER_CPU").flatMap { plainNumber($0) }
    // Slurm says nothing of other nodes; they are taken to be like this one.
    let gpus = variable("SLURM_GPUS_ON_NODE").flatMap { plainNumber($0) }
    nodes = zip(names, counts).map { name, processors in
      Node(
        name: name, processors: processors, memory: memory ?? share.map { $0 * processors },
        gpus: gpus)
    }
    own = variable("SLURMD_NODENAME").flatMap { names.firstIndex(of: $0) }
  }

  /// The allocation that oprun is in.
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

  /// The number of processors of each node: `8(x3),4`.
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

/// The share of one node that a command takes.
struct NodeShare: Hashable {
  var processors = 1
  /// The memory in MiB.
  var memory = 0
  var gpus = 0
}

/// The free part of an allocation. The node that oprun is on comes first, because a process there
/// costs the least. Resources that the job does not report are not counted.
struct AllocationRoom {
  private let allocation: Allocation
  private var free: [NodeShare]
  private var lost: Set<Int> = []

  init(_ allocation: Allocation) {
    self.allocation = allocation
    free = allocation.nodes.map {
      NodeShare(processors: $0.processors, memory: $0.memory ?? 0, gpus: $0.gpus ?? 0)
    }
  }

  private var usable: [Int] { allocation.nodes.indices.filter { !lost.contains($0) } }

  /// Why no node can ever take this; nil if one can.
  func objection(to share: NodeShare) -> String? {
    let nodes = usable.map { allocation.nodes[$0] }
    let processors = nodes.map(\.processors).max() ?? 0
    if share.processors > processors {
      return AllocationMessage.tooLarge(share.processors, largest: processors)
    }
    let gpus = nodes.map { $0.gpus ?? .max }.max() ?? 0
    return share.gpus > gpus ? AllocationMessage.tooManyGPUs(share.gpus, largest: gpus) : nil
  }

  /// The share that a command gets of a node: if it asks for more memory than there is, it gets all of it.
  func granted(_ share: NodeShare, on node: Int) -> NodeShare {
    let node = allocation.nodes[node]
    return NodeShare(
      processors: share.processors, memory: min(share.memory, node.memory ?? 0),
      gpus: node.gpus == nil ? 0 : share.gpus)
  }

  private func fits(_ share: NodeShare, on node: Int) -> Bool {
    let wanted = granted(share, on: node)
    return wanted.processors <= free[node].processors && wanted.memory <= free[node].memory
      && wanted.gpus <= free[node].gpus
  }

  private func couldFit(_ share: NodeShare, on node: Int) -> Bool {
    let node = allocation.nodes[node]
    return share.processors <= node.processors && share.gpus <= node.gpus ?? .max
  }

  /// Takes a share of one node, if possible of one that is not avoided; returns the node, or nil if
  /// there is not enough now.
  mutating func take(_ share: NodeShare, avoiding avoided: Set<Int> = []) -> Int? {
    let fitting = usable.filter { couldFit(share, on: $0) }
    let preferred = fitting.filter { !avoided.contains($0) }
    let candidates = (preferred.isEmpty ? fitting : preferred).filter { fits(share, on: $0) }
    let own = candidates.first { $0 == allocation.own }
    guard
      let node = own ?? candidates.max(by: { free[$0].processors < free[$1].processors })
    else { return nil }
    change(share, on: node, by: -1)
    return node
  }

  mutating func putBack(_ share: NodeShare, on node: Int) { change(share, on: node, by: 1) }

  private mutating func change(_ share: NodeShare, on node: Int, by sign: Int) {
    let share = granted(share, on: node)
    free[node].processors += sign * share.processors
    free[node].memory += sign * share.memory
    free[node].gpus += sign * share.gpus
  }

  /// Places nothing on the node any more; false if it was lost before. The node that oprun is on is never lost.
  mutating func lose(_ node: Int) -> Bool {
    node != allocation.own && lost.insert(node).inserted
  }
}
