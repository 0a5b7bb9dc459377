// Groups that runs have left. Plain folders stand in for control groups, which are not always to be had: one that is
// not empty cannot be removed either.

import Foundation
import Glibc
import TestSupport
import Testing

@testable import Execution

@Suite(.blocking) struct ControlGroupTests {
  private let folder = FileManager.default.temporaryDirectory.path + "/groups-\(UUID().uuidString)"
  private let files = FileManager.default

  init() throws { try make("") }

  private func make(_ name: String) throws {
    try files.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
  }

  private var names: [String] {
    get throws { try files.subpathsOfDirectory(atPath: folder).sorted() }
  }

  @Test func `a group goes with those within it, unless something is left in one`() throws {
    try make("oprun-a/oprun-b")
    try make("oprun-a/container")
    #expect(ControlGroup.remove("\(folder)/oprun-a"))
    #expect(try names == [])
    #expect(ControlGroup.remove("\(folder)/oprun-a"))
    try make("oprun-a/oprun-b")
    try make("oprun-a/oprun-c")
    try "".write(toFile: "\(folder)/oprun-a/oprun-b/process", atomically: false, encoding: .utf8)
    #expect(!ControlGroup.remove("\(folder)/oprun-a"))
    #expect(try names == ["oprun-a", "oprun-a/oprun-b", "oprun-a/oprun-b/process"])
    try files.removeItem(atPath: folder)
  }

  @Test func `groups of runs that are over are removed, others are left`() throws {
    for name in ["other", "oprun-a", "oprun-b/oprun-c", "oprun-d", "oprun-e/oprun-f"] {
      try make(name)
    }
    let held = ["oprun-d", "oprun-e/oprun-f"].map { open("\(folder)/\($0)", O_RDONLY | O_CLOEXEC) }
    for descriptor in held { #expect(flock(descriptor, LOCK_SH) == 0) }
    ControlGroup.removeUnused(in: folder, age: 3600)
    #expect(try names.count == 7)
    ControlGroup.removeUnused(in: folder, age: 0)
    #expect(try names == ["oprun-d", "oprun-e", "oprun-e/oprun-f", "other"])
    for descriptor in held {
      // A process that another test has just started has it, too, until it runs its program.
      flock(descriptor, LOCK_UN)
      close(descriptor)
    }
    ControlGroup.removeUnused(in: folder, age: 0)
    #expect(try names == ["other"])
    try files.removeItem(atPath: folder)
  }

  @Test func `a group made at the beginning of a second is old enough at once`() throws {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    let second = now.tv_sec
    while now.tv_sec == second { clock_gettime(CLOCK_REALTIME, &now) }
    // Two changes of the folder in one tick, the first of which was looked at: now the kernel gives
    // exact times, which are ahead of those of time(2).
    try make("other")
    var status = stat()
    stat(folder, &status)
    try make("more")
    try make("oprun-a")
    ControlGroup.removeUnused(in: folder, age: 0)
    #expect(try names == ["more", "other"])
    try files.removeItem(atPath: folder)
  }
}
