// Runs the rows and prints tables.

import Dispatch
import Glibc

let options = Options(CommandLine.arguments.dropFirst())
if let (trial, peer) = options.trial {
  Trials.run(trial, peer)
  exit(0)
}

let count = options.count
let rounds = 3

let million = "\(count)"
let randomGraph = RandomGraph(count)

let rows = [
  Row(
    name: "independent", title: "\(million) independent, one by one", count: count,
    peers: [
      Peer(name: "OperationKit") { OperationKitJobs.independent($0) },
      Peer(name: "Foundation") { FoundationJobs.independent($0) },
      Peer(name: "Dispatch") { DispatchJobs.independent($0) },
      Peer(name: "task group") { await TaskGroupJobs.independent($0) },
    ]),
  Row(
    name: "at-once", title: "\(million) independent, added at once", count: count,
    peers: [
      Peer(name: "OperationKit") { OperationKitJobs.independentAtOnce($0) },
      Peer(name: "Foundation") { FoundationJobs.independentAtOnce($0) },
    ]),
  Row(
    name: "chains", title: "\(million) in chains of 5000, none kept by the caller", count: count,
    peers: [
      Peer(name: "OperationKit") { OperationKitJobs.chains($0) },
      Peer(name: "Foundation") { FoundationJobs.chains($0) },
    ]),
  Row(
    name: "chain", title: "chain of \(million), all kept by the caller", count: count,
    peers: [
      Peer(name: "OperationKit") { OperationKitJobs.keptChain($0) },
      Peer(name: "Foundation") { FoundationJobs.keptChain($0) },
      Peer(name: "Dispatch") { DispatchJobs.chain($0) },
      Peer(name: "task group") { await TaskGroupJobs.chain($0) },
    ]),
  Row(
    name: "graph", title: "random graph of \(million)", count: count,
    peers: [
      Peer(name: "OperationKit") { _ in OperationKitJobs.graph(randomGraph) },
      Peer(name: "Foundation") { _ in FoundationJobs.graph(randomGraph) },
      Peer(name: "task group") { _ in await TaskGroupJobs.graph(randomGraph) },
    ]),
  Row(
    name: "producers", title: "\(million) from 8 threads", count: count,
    peers: [
      Peer(name: "OperationKit") { OperationKitJobs.producers($0) },
      Peer(name: "Foundation") { FoundationJobs.producers($0) },
      Peer(name: "Dispatch") { DispatchJobs.producers($0) },
    ]),
]

func nanoseconds(_ body: () async -> Void) async -> Int {
  let duration = await ContinuousClock().measure { await body() }
  let (seconds, attoseconds) = duration.components
  return Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
}

/// Peers take turns, so that a slow moment of the machine meets them all. Each time is measured in
/// a process of its own, so that none works in memory that another has left in pieces.
func measure(_ row: Row) {
  let peers = row.peers.filter { options.peer == nil || options.peer == $0.name }
  if peers.isEmpty { return }
  var times = peers.map { _ in [Int]() }
  for _ in 0..<rounds {
    for (index, peer) in peers.enumerated() {
      switch Sample(row: row.name, peer: peer.name).take(count: row.count) {
      case .success(let time): times[index].append(time)
      case .failure(let failure):
        print("\(row.title):\n  \(peer.name): \(failure.message)")
        exit(1)
      }
    }
  }
  let medians = times.map { $0.sorted()[rounds / 2] }
  print("\(row.title):")
  for (peer, median) in zip(peers, medians) {
    let ratio = Double(median) / Double(medians[0])
    let rounded = (ratio * 10).rounded() / 10
    print("  \(peer.name): \(median / row.count) ns each, ratio \(rounded)")
  }
}

// In the process of one sample: the job, once to warm up and once to be measured.
if let sample = options.sample {
  guard let row = rows.first(where: { $0.name == sample.row }),
    let peer = row.peers.first(where: { $0.name == sample.peer })
  else { Options.fail("no row '\(sample.row)' with '\(sample.peer)'") }
  await peer.run(row.count)
  print(await nanoseconds { await peer.run(row.count) })
  exit(0)
}

// First, and OperationKit first: what others can use again of its memory speaks for them.
if options.wants("memory") {
  print("bytes for each of \(million) that wait, its closure of 32 included, resident:")
  print("  OperationKit: \(OperationKitJobs.memory(count))")
  print("  Foundation: \(FoundationJobs.memory(count))")
  print("  Dispatch: \(DispatchJobs.memory(count))")
}

for row in rows where options.wants(row.name) { measure(row) }

if options.wants("trials") { Trials.runAll() }

if options.wants("growth") {
  print("OperationKit, ns each: independent, chain, random graph, graph within the latest 100")
  var size = 1000
  while size <= (options.isQuick ? 100_000 : 10_000_000) {
    let graph = RandomGraph(size)
    let independent = await nanoseconds { OperationKitJobs.independent(size) }
    let chain = await nanoseconds { OperationKitJobs.keptChain(size) }
    let random = await nanoseconds { OperationKitJobs.graph(graph) }
    let nearGraph = RandomGraph(size, within: 100)
    let near = await nanoseconds { OperationKitJobs.graph(nearGraph) }
    print("  \(size): \(independent / size), \(chain / size), \(random / size), \(near / size)")
    size *= 10
  }
}
