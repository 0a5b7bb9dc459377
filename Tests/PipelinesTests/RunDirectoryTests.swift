import Pipelines
import Scheduling
import Testing

@Suite struct `Files of a run` {
  private let directory = RunDirectory(path: "runs/1")

  @Test(arguments: [
    ("unit", Trial.attempt(2), "runs/1/unit.2.log"),
    ("unit", .hook(.onFailure, index: 1), "runs/1/unit.on_failure.1.log"),
    ("test[os=linux,swift=6]", .attempt(1), "runs/1/test[os=linux,swift=6].1.log"),
    ("deploy/build", .attempt(1), "runs/1/deploy%2Fbuild.1.log"),
    ("test[path=../../etc]", .attempt(1), "runs/1/test[path=..%2F..%2Fetc].1.log"),
    ("test[x=%2F]", .attempt(1), "runs/1/test[x=%252F].1.log"),
    ("test[x=a\nb\u{7f}é]", .attempt(1), "runs/1/test[x=a%0Ab%7Fé].1.log"),
  ])
  func `every id is the name of one file`(id: String, trial: Trial, path: String) {
    #expect(directory.log(of: id, trial) == path)
  }

  @Test func `long ids are cut and stay apart`() {
    let text = String(repeating: "é/", count: 200)
    let names = ["a", "b"].map { directory.outputs(of: "t[x=\(text)\($0)]", .attempt(12)) }
    #expect(Set(names).count == 2)
    for name in names {
      #expect(name.utf8.count <= 7 + 220)
      #expect(name.hasPrefix("runs/1/t[x=é%2Fé%2F"))
      #expect(name.hasSuffix(".12.outputs"))
    }
  }
}
