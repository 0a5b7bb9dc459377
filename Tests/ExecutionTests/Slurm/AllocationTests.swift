// The nodes of an allocation: what Slurm's variables say, and which node a command gets.

import TestSupport
import Testing

@testable import Execution

@Suite(.blocking) struct AllocationTests {
  @Test(arguments: [
    ("n1", ["n1"]), ("n[1-3]", ["n1", "n2", "n3"]),
    ("n[1,3-4],login", ["n1", "n3", "n4", "login"]),
    ("n[08-11]", ["n08", "n09", "n10", "n11"]), ("a[1-2]b[3-4]", ["a1b3", "a1b4", "a2b3", "a2b4"]),
    ("c[1-2]-ib", ["c1-ib", "c2-ib"]), ("x,y[1]", ["x", "y1"]),
  ])
  func `a list of nodes names each`(list: String, names: [String]) {
    #expect(Allocation.names(in: list) == names)
  }

  @Test(arguments: [
    "", ",", "n[", "n[]", "n[1", "n1]", "n[3-1]", "n[a]", "n[1-]", "n[1-2-3]", "n[1,]",
    "n[0-99999999]",
    "n[1-999]m[1-999]", "n[-1]", "n[9999999999999999999]",
  ])
  func `what is no list of nodes is nil`(list: String) {
    #expect(Allocation.names(in: list) == nil)
  }

  @Test func `numbers of processors may be repeated`() {
    #expect(Allocation.counts(in: "8") == [8])
    #expect(Allocation.counts(in: "8(x3),4") == [8, 8, 8, 4])
    for text in ["", "0", "x", "8(", "8(x)", "8(x0)", "8(3)", "8,", "8(x99999999)", "-1"] {
      #expect(Allocation.counts(in: text) == nil, "\(text)")
    }
  }

  private func allocation(_ variables: [String: String]) -> Allocation? {
    Allocation { variables[$0] }
  }

  @Test func `an allocation is what the variables of the job say`() throws {
    let variables = [
      "SLURM_JOB_ID": "12", "SLURM_JOB_NODELIST": "n[2-3]", "SLURM_JOB_CPUS_PER_NODE": "8,4",
      "SLURMD_NODENAME": "n3", "SLURM_RESTART_COUNT": "2",
    ]
    let found = try #require(allocation(variables))
    #expect(found.nodes.map(\.name) == ["n2", "n3"] && found.nodes.map(\.processors) == [8, 4])
    #expect(found.job == "12" && found.own == 1 && found.restart == 2 && found.processorCount == 12)
    #expect(allocation([:]) == nil)
    #expect(allocation(variables.merging(["SLURM_JOB_CPUS_PER_NODE": "8"]) { $1 }) == nil)
    #expect(allocation(variables.merging(["SLURMD_NODENAME": "login"]) { $1 })?.own == nil)
  }

  @Test func `memory and GPUs of a node are divided as far as the job says what there is`() throws {
    let variables = [
      "SLURM_JOB_ID": "12", "SLURM_JOB_NODELIST": "n[1-2]", "SLURM_JOB_CPUS_PER_NODE": "8(x2)",
      "SLURMD_NODENAME": "n1",
    ]
    let said = ["SLURM_MEM_PER_NODE": "1000", "SLURM_GPUS_ON_NODE": "2"]
    let found = try #require(allocation(variables.merging(said) { $1 }))
    #expect(found.nodes.map(\.memory) == [1000, 1000] && found.nodes.map(\.gpus) == [2, 2])
    var room = AllocationRoom(found)
    #expect(room.take(NodeShare(memory: 600)) == 0)
    #expect(room.take(NodeShare(memory: 600, gpus: 1)) == 1)
    #expect(room.take(NodeShare(memory: 600)) == nil)
    #expect(room.take(NodeShare(gpus: 2)) == 0)
    #expect(room.take(NodeShare(gpus: 2)) == nil)
    room.putBack(NodeShare(memory: 600, gpus: 1), on: 1)
    // More than there is means all of it.
    #expect(room.take(NodeShare(memory: 9000, gpus: 2)) == 1)
    #expect(room.take(NodeShare(memory: 1)) == 0)
    #expect(room.objection(to: NodeShare(memory: 9000, gpus: 2)) == nil)
    #expect(
      room.objection(to: NodeShare(gpus: 3))
        == "the step asks for 3 GPUs, but no node of the allocation has more than 2")
    var open = AllocationRoom(try #require(allocation(variables)))
    for _ in 0..<8 { #expect(open.take(NodeShare(memory: 9000, gpus: 9)) == 0) }
    #expect(open.granted(NodeShare(memory: 9000, gpus: 9), on: 0) == NodeShare())
    let perProcessor = variables.merging(["SLURM_MEM_PER_CPU": "100"]) { $1 }
    #expect(allocation(perProcessor)?.nodes.map(\.memory) == [800, 800])
  }

  @Test func `a command gets the own node first, then the emptiest`() throws {
    let found = try #require(
      allocation([
        "SLURM_JOB_ID": "12", "SLURM_JOB_NODELIST": "n[1-3]", "SLURM_JOB_CPUS_PER_NODE": "4,4,8",
        "SLURMD_NODENAME": "n1",
      ]))
    var room = AllocationRoom(found)
    #expect(room.take(3) == 0)
    #expect(room.take(2) == 2)
    #expect(room.take(1) == 0)
    #expect(room.take(6) == 2)
    #expect(room.take(5) == nil)
    #expect(room.take(1, avoiding: [1]) == nil)
    #expect(room.take(1) == 1)
    room.putBack(NodeShare(processors: 6), on: 2)
    #expect(room.take(4, avoiding: [2]) == nil)
    #expect(room.take(5, avoiding: [2]) == 2)
    #expect(room.lose(2) && !room.lose(2) && !room.lose(0))
    #expect(
      room.objection(to: NodeShare(processors: 5))
        == "the step asks for 5 processors, but no node of the allocation has more than 4")
    room.putBack(NodeShare(processors: 5), on: 2)
    #expect(room.take(5) == nil)
  }
}

extension AllocationRoom {
  fileprivate mutating func take(_ processors: Int, avoiding avoided: Set<Int> = []) -> Int? {
    take(NodeShare(processors: processors), avoiding: avoided)
  }
}
