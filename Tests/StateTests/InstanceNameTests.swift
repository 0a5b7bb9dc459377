// The names of steps that were made during a run.

import Testing

@testable import State

struct `The name of an instance` {
  @Test func `may have been made from several steps`() {
    #expect(
      InstanceName("build[os=[x]]/unit[1]").origins == [
        "build/unit[1]", "build[os=[x]]/unit", "build/unit",
      ])
    #expect(InstanceName("build").origins == [])
  }

  @Test func `has a number behind it only if a secret is in it`() {
    let names = ["deploy[t=***]~7", "deploy[t=***]~x", "deploy[t=***]", "deploy~7", "a~***7"]
    #expect(
      names.map { InstanceName.withoutNumber($0) } == [
        "deploy[t=***]", "deploy[t=***]~x", "deploy[t=***]", "deploy~7", "a~***7",
      ])
    #expect(names.map { InstanceName.isMasked($0) } == [true, false, false, false, false])
  }
}
