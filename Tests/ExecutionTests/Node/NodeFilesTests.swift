// The files between oprun and its nodes: whole or not there, one claim, and which results count.

import Foundation
import RunFiles
import TestSupport
import Testing

@testable import Execution

@Suite(.blocking) struct NodeFilesTests {
  private let run = TemporaryRun()

  private func files() throws -> NodeFiles { try NodeFiles.make(in: run.directory.path) }

  @Test func `the folder is made once, and is its owner's alone`() throws {
    let path = run.path(of: "@node")
    #expect(throws: (any Error).self) { try NodeFiles.open(in: run.directory.path) }
    let files = try files()
    try files.write(sampleTasks[0], number: 3)
    #expect(try self.files().task(3).encoded == sampleTasks[0].encoded)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: path).sorted()
        == ["claims", "jobs", "mark", "place", "results", "starts", "stops", "tasks"])
    for name in ["", "/tasks", "/tasks/3"] {
      let mode = try FileManager.default.attributesOfItem(atPath: path + name)[.posixPermissions]
      #expect(mode as? Int == (name == "/tasks/3" ? 0o600 : 0o700))
    }
    #expect(NodeFiles.remove(from: run.directory))
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func `a task that is not there, or is something else, is an error`() throws {
    let files = try files()
    #expect(throws: NodeFailure("task '\(files.path)/tasks/1' does not exist")) {
      try files.task(1)
    }
    try files.write(Array("oprun task 2\nhello".utf8), to: .tasks, "2")
    #expect(
      throws: NodeFailure("'\(files.path)/tasks/2' is damaged, or of another version of oprun")
    ) { try files.task(2) }
    symlink("/etc/passwd", "\(files.path)/tasks/3")
    #expect(
      throws: NodeFailure(
        "cannot read '\(files.path)/tasks/3': too many levels of symbolic links")
    ) { try files.task(3) }
    mkfifo("\(files.path)/tasks/4", 0o600)
    #expect(throws: NodeFailure("cannot read '\(files.path)/tasks/4': invalid argument")) {
      try files.task(4)
    }
  }

  @Test func `a file has its name if the answer to the request was lost`() throws {
    let files = try files()
    var file = try AsideFile(for: "1.0", in: .results, files)
    try file.write([1, 2])
    let folder = files.shown(.results)
    let place = try #require(try FileManager.default.contentsOfDirectory(atPath: folder).first)
    #expect(rename("\(folder)/\(place)", "\(folder)/1.0") == 0)
    try file.take("1.0")
    #expect(try files.content(of: .results, "1.0") == [1, 2])
  }

  @Test func `one job has a task, for ever`() throws {
    let files = try files()
    #expect(try files.claim(of: 5) == nil)
    #expect(try files.claim(5, for: "100") == "100")
    #expect(try files.claim(5, for: "101") == "100")
    #expect(try files.claim(5, for: "100") == "100")
    #expect(try files.claim(6, for: "101.2") == "101.2")
    #expect(try files.claim(of: 5) == "100")
    #expect(try files.claims() == [5, 6])
  }

  @Test func `a start begins once, and says where`() throws {
    let files = try files()
    let start = TaskStart(task: 5, restart: 1)
    let place = TaskOrigin(host: "n2", job: "100", processID: 7, began: 1_775_000_000)
    #expect(try files.begin(start, at: place))
    #expect(try !files.begin(start, at: sampleResults[0].place))
    #expect(
      try files.content(of: .starts, start.name)
        == Array("host=n2\npid=7\njob=100\nbegan=1775000000\n".utf8))
    #expect(try files.starts() == [start])
    #expect(files.isSuperseded(TaskStart(task: 5, restart: 0)))
    #expect(!files.isSuperseded(start) && !files.isSuperseded(TaskStart(task: 4, restart: 0)))
  }

  @Test func `what is being written, and foreign names, are no results`() throws {
    let files = try files()
    try files.write(sampleResults[0].encoded, to: .results, "1.0")
    for name in [".2.0.abc", "2", "2.0.1", "x.0", "2.", "+2.0", "02.0", "2.-1", ""] {
      _ = FileManager.default.createFile(atPath: files.shown(.results, name), contents: nil)
    }
    #expect(try files.results() == [TaskStart(task: 1, restart: 0)])
    #expect(try files.result(of: TaskStart(task: 1, restart: 0)) == sampleResults[0])
    #expect(try files.resultBefore(TaskStart(task: 1, restart: 3)) == sampleResults[0])
    #expect(try files.resultBefore(TaskStart(task: 1, restart: 0)) == nil)
  }

  @Test func `only the result of the newest start counts`() {
    func accepted(_ results: String, _ starts: String) -> [Int: Int] {
      let parse = { (text: String) in
        text.split(separator: " ").compactMap { TaskStart(name: String($0)) }
      }
      return TaskStart.accepted(results: parse(results), starts: parse(starts))
        .mapValues(\.restart)
    }
    #expect(accepted("", "1.0") == [:])
    #expect(accepted("1.0 2.0", "1.0 2.0 3.0") == [1: 0, 2: 0])
    #expect(accepted("1.0", "1.0 1.1") == [:])
    #expect(accepted("1.1 1.0", "1.0 1.1") == [1: 1])
    #expect(accepted("1.0 1.1", "1.1 1.0") == [1: 1])
    // Its start may not be seen yet.
    #expect(accepted("1.2", "1.0 1.1") == [1: 2])
    #expect(accepted("1.2 1.3", "") == [1: 3])
  }

  @Test func `each start of each task has a file of outputs of its own`() throws {
    let run = TemporaryRun()
    let files = try NodeFiles.make(in: run.directory.path)
    let places = try [(1, 0), (1, 2), (2, 0)].map {
      try files.outputsPlace(of: TaskStart(task: $0, restart: $1))
    }
    #expect(places == ["@node/outputs/1.0", "@node/outputs/1.2", "@node/outputs/2.0"])
  }

  @Test func `the program is copied once`() throws {
    let files = try files()
    try files.installProgram()
    let first = try FileManager.default.attributesOfItem(atPath: files.programPath)
    #expect(first[.posixPermissions] as? Int == 0o700)
    try files.installProgram()
    let second = try FileManager.default.attributesOfItem(atPath: files.programPath)
    #expect(second[.systemFileNumber] as? Int == first[.systemFileNumber] as? Int)
    let own = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().path
    let source = try FileManager.default.attributesOfItem(atPath: own)
    #expect(first[.size] as? Int == source[.size] as? Int)
  }
}
