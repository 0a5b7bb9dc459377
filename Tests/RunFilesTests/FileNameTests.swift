import Plans
import Scheduling
import Testing

@testable import RunFiles

@Suite struct `Names of the files of a run` {
  @Test(arguments: [
    ("unit", CommandRole.attempt(2), "unit.2.log"),
    ("unit", .hook(.onFailure, index: 1), "unit.on_failure.1.log"),
    ("unit", .hook(.onFailure, index: 1, round: 2), "unit.on_failure.1@2.log"),
    ("unit.on_failure.1", .attempt(2), "unit.on_failure.1.2.log"),
    ("unit", .probe(3), "unit.wait_for.3.log"),
    ("unit.on_failure", .attempt(1), "unit%2Eon_failure.1.log"),
    ("unit.wait_for", .hook(.onSuccess, index: 1), "unit%2Ewait_for.on_success.1.log"),
    ("\u{600}.on_cancel", .attempt(1), "\u{600}%2Eon_cancel.1.log"),
    ("unit.on_failures", .attempt(1), "unit.on_failures.1.log"),
    ("test[os=linux,swift=6]", .attempt(1), "test[os=linux,swift=6].1.log"),
    ("deploy/build", .attempt(1), "deploy%2Fbuild.1.log"),
    ("test[path=../../etc]", .attempt(1), "test[path=..%2F..%2Fetc].1.log"),
    ("test[x=%2F]", .attempt(1), "test[x=%252F].1.log"),
    ("test[x=a\nb\u{7f}é]", .attempt(1), "test[x=a%0Ab%7Fé].1.log"),
  ])
  func `every id is the name of one file`(id: String, role: CommandRole, name: String) {
    #expect(RunDirectory.logName(of: id, role) == name)
  }

  @Test func `long ids are cut and stay apart`() {
    let text = String(repeating: "é/", count: 200)
    let names = ["a", "b"].map { RunDirectory.outputsName(of: "t[x=\(text)\($0)]", .attempt(12)) }
    #expect(Set(names).count == 2)
    for name in names {
      #expect(name.utf8.count <= 200)
      #expect(name.hasPrefix("t[x=é%2Fé%2F"))
      #expect(name.contains(/%2F~[0-9a-f]{40}\.12\.outputs$/))
    }
  }

  @Test func `the digest of a long id is the start of its SHA-256`() {
    // printf 'a%.0s' $(seq 200) | sha256sum
    let name = RunDirectory.logName(of: String(repeating: "a", count: 200), .attempt(1))
    #expect(
      name == String(repeating: "a", count: 142)
        + "~c2a908d98f5df987ade41b5fce213067efbcc21e.1.log")
  }

  @Test func `no id can be written that has the name of a long one`() {
    for long in [
      String(repeating: "a", count: 181), String(repeating: "/", count: 61),
      String(repeating: "€", count: 99), String(repeating: "aa/", count: 60),
    ] {
      let name = RunDirectory.logName(of: long, .attempt(1))
      let id = String(name.dropLast(".1.log".count))
      #expect(id.utf8.count > 180 && id.utf8.count <= 200, "\(id.utf8.count)")
      #expect(RunDirectory.logName(of: id, .attempt(1)) != name)
    }
  }

  @Test func `up to 180 bytes a name is whole`() {
    let id = String(repeating: "a", count: 180)
    #expect(RunDirectory.logName(of: id, .attempt(1)) == "\(id).1.log")
    let escaped = String(repeating: "/", count: 60)
    #expect(
      RunDirectory.logName(of: escaped, .attempt(1))
        == String(repeating: "%2F", count: 60) + ".1.log")
  }
}
