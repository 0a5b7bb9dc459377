// The number of processors that control groups grant, from the contents of the kernel's files.

import Processors
import Testing

struct ProcessorCountTests {
  @Test(
    arguments: [
      ("max 100000\n", nil), ("100000 100000\n", 1), ("150000 100000\n", 2), ("200000 100000\n", 2),
      ("200001 100000\n", 3), ("1000 100000\n", 1), ("50000 1000\n", 50), ("400000 100000", 4),
      ("0 100000\n", 1), ("18446744073709551615 1\n", Int.max),
      ("", nil), ("\n", nil), ("100000\n", nil), ("max\n", nil), ("100000 0\n", nil),
      ("1.5 100000\n", nil), ("-1 100000\n", nil), ("100000 100000 1\n", nil),
      ("99999999999999999999 1\n", nil), ("a b\n", nil),
    ] as [(String, Int?)])
  func `a quota is so many processors, the last one perhaps in part`(_ text: String, _ count: Int?)
  {
    #expect(grantedProcessorCount(cpuMax: Array(text.utf8)) == count)
  }

  private static let root = "/sys/fs/cgroup"

  private func granted(_ membership: String, _ files: [String: String]) -> Int? {
    OwnControlGroup(membership: Array(membership.utf8)) { files[$0] != nil }
      .flatMap { grantedProcessorCount(of: $0) { path in files[path].map { Array($0.utf8) } } }
  }

  @Test func `the least of its own group and those around it counts`() {
    let files = [
      "\(Self.root)/cgroup.controllers": "cpu",
      "\(Self.root)/a/cpu.max": "300000 100000",
      "\(Self.root)/a/b/cpu.max": "max 100000",
      "\(Self.root)/a/b/c/cpu.max": "400000 100000",
      "\(Self.root)/other/cpu.max": "100000 100000",
    ]
    #expect(granted("0::/a/b/c\n", files) == 3)
    #expect(granted("0::/a/b\n", files) == 3)
    #expect(granted("0::/other\n", files) == 1)
    #expect(granted("0::/\n", files) == nil)
  }

  @Test func `a container sees its own group as the root`() {
    let files = [
      "\(Self.root)/cgroup.controllers": "", "\(Self.root)/cpu.max": "150000 100000",
    ]
    #expect(granted("0::/\n", files) == 2)
    #expect(granted("0::/docker/not-to-be-seen-from-here\n", files) == 2)
    #expect(granted("0::/../../elsewhere\n", files) == 2)
  }

  @Test func `beside version 1 the hierarchy is a folder below`() {
    let files = [
      "\(Self.root)/unified/cgroup.controllers": "",
      "\(Self.root)/unified/a/cpu.max": "100000 100000",
      "\(Self.root)/a/cpu.max": "900000 100000",
    ]
    #expect(granted("9:cpu:/x\n0::/a\n", files) == 1)
    #expect(granted("9:cpu:/x\n", files) == nil)
  }

  @Test func `without control groups nothing is limited`() {
    #expect(granted("", [:]) == nil)
    #expect(granted("0::/a\n", [:]) == nil)
    #expect(granted("0::/a\n", ["\(Self.root)/a/cpu.max": "100000 100000"]) == nil)
  }

  @Test func `there is at least one`() {
    #expect(availableProcessorCount >= 1)
  }
}
