// What a confined command gets, and why none is confined.

import CLinux
import Diagnostics
import Foundation
import Plans
import RunFiles
import Running
import Scheduling
import TestSupport
import Testing

@testable import Execution

@Suite(.blocking) final class ConfinerTests {
  private let run = TemporaryRun()
  private let workspace: String
  private let own = OwnProcesses()
  private lazy var temporary = TemporaryFolders(in: run.directory, own: own)

  init() throws {
    workspace = run.directory.path + "/ws"
    try FileManager.default.createDirectory(
      atPath: workspace, withIntermediateDirectories: false)
  }

  private func command(
    inputs: [String] = [], outputs: [String] = [], environment: [EnvironmentVariable] = [],
    isEnforced: Bool = true
  ) -> Command {
    let confinement = Confinement(
      inputs: Confinement.Patterns(inputs, in: workspace),
      writable: Confinement.Patterns(outputs, in: workspace), isEnforced: isEnforced)
    return Command(
      CommandKey(operation: OperationID(0), role: .attempt(1)), .words(["true"]),
      in: CommandEnvironment(environment), settings: StepSettings(), confinement: confinement,
      files: (log: "step.1.log", outputs: "step.1.outputs"))
  }

  private func makeConfiner(workspace: String? = nil, version: Int = 3) -> Confiner {
    Confiner(
      workspace: workspace ?? self.workspace, openLimit: 64, temporary, kernelVersion: version)
  }

  private func exists(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: "\(workspace)/\(name)")
  }

  @Test(arguments: [
    (0, "the kernel has no Landlock, or it is switched off"),
    (2, "the kernel has version 2 of Landlock, wanted 3 or newer (Linux 6.2)"),
  ])
  func `a kernel that cannot confine is reported once`(_ version: Int, _ reason: String) throws {
    let confiner = makeConfiner(version: version)
    for _ in 1...2 {
      let start = try #require(
        try confiner.start(of: command(outputs: ["x"]), in: run.directory))
      #expect(!start.isConfined && start.lacksConfinement)
    }
    let open = try confiner.start(of: command(isEnforced: false), in: run.directory)
    let openedByPattern = try confiner.start(of: command(outputs: ["*"]), in: run.directory)
    #expect(open?.lacksConfinement == false && openedByPattern?.lacksConfinement == false)
    #expect(
      confiner.takeNotices() == ["cached steps are not confined to what they declare: \(reason)"])
    #expect(!exists("x"))
  }

  @Test func `nothing is confined in the root of the file system, or by what opens everything`()
    throws
  {
    let confiner = makeConfiner(workspace: "/")
    #expect(try confiner.start(of: command(outputs: []), in: run.directory)?.isConfined == false)
    #expect(
      confiner.takeNotices() == [
        "cached steps are not confined to what they declare: oprun was started in '/'"
      ])
    let other = makeConfiner()
    for pattern in ["*.o", ".", "./", "../*", "**"] {
      #expect(
        try other.start(of: command(outputs: [pattern]), in: run.directory)?.isConfined == false,
        "\(pattern)")
      #expect(other.takeNotices() == [openedWorkspace(by: pattern)])
    }
  }

  @Test func `what is made for a command and not used is removed again`() throws {
    let confiner = makeConfiner()
    let outputs = ["a/b/file", "a/used", "c/d/", "e/*.o", "used/deep/"]
    let start = try #require(try confiner.start(of: command(outputs: outputs), in: run.directory))
    #expect(exists("a/b/file") && exists("c/d") && exists("e") && exists("used/deep"))
    #expect(FileManager.default.fileExists(atPath: run.path(of: "tmp.1")))
    try Data("x".utf8).write(to: URL(fileURLWithPath: "\(workspace)/a/used"))
    try Data().write(to: URL(fileURLWithPath: "\(workspace)/used/deep/x"))
    start.end()
    #expect(!exists("a/b/file") && !exists("c/d"))
    // Another step may be about to make something there.
    #expect(exists("a/b") && exists("c") && exists("e"))
    #expect(exists("a/used") && exists("used/deep/x"))
    #expect(!FileManager.default.fileExists(atPath: run.path(of: "tmp.1")))
    #expect(!FileManager.default.fileExists(atPath: run.path(of: "step.1.outputs")))
  }

  @Test func `a command makes a file itself in a directory that another pattern opens`() throws {
    let outputs = ["b/lib", "b/*", "d/e/file", "d/", "alone"]
    let start = try #require(
      try makeConfiner().start(of: command(outputs: outputs), in: run.directory))
    #expect(!exists("b/lib") && exists("b") && !exists("d/e/file") && exists("d/e"))
    #expect(exists("alone"))
    start.end()
  }

  @Test(arguments: [true, false])
  func `what a command has left empty is removed if it has failed`(_ hasSucceeded: Bool) throws {
    let start = try #require(
      try makeConfiner().start(of: command(outputs: ["empty", "full"]), in: run.directory))
    for (name, text) in [("empty", ""), ("full", "half")] {
      try Data(text.utf8).write(to: URL(fileURLWithPath: "\(workspace)/\(name)"))
    }
    start.end(hasSucceeded: hasSucceeded)
    #expect(exists("empty") == hasSucceeded && exists("full"))
  }

  @Test(arguments: [(["*"], true), ([], false)] as [([String], Bool)])
  func `a command that is not confined gets directories, and no files`(
    _ more: [String], _ isEnforced: Bool
  ) throws {
    let confiner = makeConfiner()
    let outputs = ["file", "a/file", "b/c/", "d/*.o"] + more
    let start = try #require(
      try confiner.start(
        of: command(outputs: outputs, isEnforced: isEnforced), in: run.directory))
    #expect(!start.isConfined && start.temporaryPath == run.path(of: "tmp.1"))
    #expect(exists("a") && exists("b/c") && exists("d"))
    #expect(!exists("file") && !exists("a/file"))
    #expect(FileManager.default.fileExists(atPath: run.path(of: "tmp.1")))
    start.end()
    #expect(!FileManager.default.fileExists(atPath: run.path(of: "tmp.1")))
    #expect(exists("a") && exists("b") && exists("d") && !exists("b/c"))
  }

  @Test func `what a killed run had made for a command counts as made now`() throws {
    var killed = Placeholders()
    killed.addFolder("\(workspace)/out")
    killed.addFile("\(workspace)/out/file")
    killed.addFolder("\(workspace)/deep/out")
    killed.mark()
    let confiner = makeConfiner()
    let start = try #require(
      try confiner.start(of: command(outputs: ["out/file", "deep/out/"]), in: run.directory))
    start.end()
    #expect(!exists("out/file") && !exists("deep/out"))
  }

  @Test func `a file that comes in the place of one that was made for a command is not ours`()
    throws
  {
    var placeholders = Placeholders()
    let path = "\(workspace)/out"
    placeholders.addFile(path)
    close(open("\(workspace)/edited", O_CREAT | O_WRONLY, 0o600))
    var before = stat()
    var after = stat()
    stat("\(workspace)/edited", &before)
    rename("\(workspace)/edited", path)
    placeholders.mark()
    stat(path, &after)
    #expect(after.st_mtim.tv_sec == before.st_mtim.tv_sec)
    placeholders.removeUntouched(hasSucceeded: false)
    #expect(exists("out"))
  }

  @Test func `what a killed run had left is removed before a command that is not confined`() throws
  {
    var killed = Placeholders()
    killed.addFile("\(workspace)/out")
    killed.mark()
    let start = try makeConfiner(version: 0).start(of: command(outputs: ["out"]), in: run.directory)
    #expect(start?.isConfined == false && !exists("out"))
  }

  @Test func `a step that sets TMPDIR keeps its own`() throws {
    let confiner = makeConfiner()
    let own = [EnvironmentVariable(name: "TMPDIR", value: "/var/tmp")]
    let start = try #require(
      try confiner.start(of: command(outputs: [], environment: own), in: run.directory))
    #expect(start.temporaryPath == nil)
  }

  @Test func `directories into which no exclusion reaches have one rule`() throws {
    for name in ["t/a/1", "t/a/b/2", "t/skip/3", "t/kept/skip/4", "t/file", "other/5"] {
      let url = URL(fileURLWithPath: "\(workspace)/\(name)")
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data().write(to: url)
    }
    symlink("../../other", "\(workspace)/t/a/link")
    let inputs = ["t", "!t/skip", "!t/kept/**/skip"]
    let confinement = Confinement(
      inputs: Confinement.Patterns(inputs, in: workspace),
      writable: Confinement.Patterns([], in: workspace), isEnforced: true)
    #expect(try rules(of: confinement) == ["t/a", "t/a/link", "t/file"])
  }

  @Test func `what patterns name is looked for before the start, and not by it`() throws {
    mkdir("\(workspace)/in", 0o700)
    close(open("\(workspace)/in/file", O_CREAT | O_WRONLY, 0o600))
    let confiner = makeConfiner()
    let open = command(inputs: ["in/*"])
    let search = try #require(confiner.search(for: open, in: run.directory))
    let real = try #require(realPath(workspace))
    #expect(search()?.map(\.lossy) == ["\(workspace)/in/file"])
    func paths(_ start: PreparedStart?) -> [String] {
      guard let rules = start?.takeRules()?.own else { return [] }
      return (0..<rules.count).map { String(cString: rules.rules[$0].path) }
    }
    func opens(_ found: [FileName]?) throws -> Bool {
      let start = try confiner.start(of: open, in: run.directory, found: found)
      return paths(start).contains { $0.hasPrefix("\(workspace)/in") || $0.hasPrefix("\(real)/in") }
    }
    #expect(try !opens([]))
    #expect(try opens(search()))
    for known in [command(), command(inputs: ["in/*"], isEnforced: false)] {
      #expect(confiner.search(for: known, in: run.directory) == nil)
    }
    #expect(makeConfiner(version: 0).search(for: open, in: run.directory) == nil)
  }

  @Test func `a command whose patterns find too many files is not confined, and says so`() throws {
    mkdir("\(workspace)/in", 0o700)
    for name in 1...5 { close(open("\(workspace)/in/\(name)", O_CREAT | O_WRONLY, 0o600)) }
    func found(_ inputs: [String], most: Int) throws -> Int? {
      let confinement = Confinement(
        inputs: Confinement.Patterns(inputs, in: workspace),
        writable: Confinement.Patterns([], in: workspace), isEnforced: true)
      let real = try #require(realPath(workspace))
      return ReadableFiles.found(by: confinement, workspace: real, state: nil, most: most)?.count
    }
    for inputs in [["in/*"], ["**"], ["in", "!in/none"], ["in/[1-3]", "in/[3-5]"]] {
      #expect(try found(inputs, most: 4) == nil, "\(inputs)")
      #expect(try found(inputs, most: 5) == 5, "\(inputs)")
    }
    #expect(try found(["in"], most: 1) == 1)
    let confiner = makeConfiner()
    let start = try #require(
      try confiner.start(of: command(inputs: ["in/*"]), in: run.directory, found: nil))
    #expect(!start.isConfined && start.lacksConfinement)
    #expect(
      confiner.takeNotices() == [
        "a step that declares 'in/*' is not confined: this finds more than 250,000 files; name directories in place of "
          + "patterns, since each of them counts as one"
      ])
  }

  /// Below the workspace.
  private func rules(of confinement: Confinement) throws -> [String] {
    let real = try #require(realPath(workspace))
    let found = ReadableFiles.found(by: confinement, workspace: real, state: real + "/.oprun")
    return try #require(found).map {
      String($0.lossy.dropFirst(workspace.utf8.count + 1))
    }.sorted()
  }

  @Test
  func `a link in an input opens what it leads to in the workspace, without the state directory`()
    throws
  {
    for name in ["src", ".oprun", "data", "made"] { mkdir("\(workspace)/\(name)", 0o700) }
    close(open("\(workspace)/data/file", O_CREAT | O_WRONLY, 0o600))
    for (name, target) in [
      ("up", ".."), ("state", "../.oprun"), ("above", "../.."), ("etc", "/etc"),
      ("data", "../data"),
    ] {
      symlink(target, "\(workspace)/src/\(name)")
    }
    symlink("../data/file", "\(workspace)/made/link")
    let inputs = Confinement(
      inputs: Confinement.Patterns(["src"], in: workspace),
      writable: Confinement.Patterns([], in: workspace))
    #expect(
      try rules(of: inputs) == [
        "src", "src/data", "src/up/data", "src/up/made", "src/up/made/link", "src/up/src",
      ])
    // A link that a step before has made opens nothing.
    let outputs = Confinement(
      inputs: Confinement.Patterns([], in: workspace),
      outputsBefore: [Confinement.Patterns(["made/link", "made/*", "made"], in: workspace)],
      writable: Confinement.Patterns([], in: workspace))
    #expect(try rules(of: outputs) == ["made"])
  }

  @Test func `a directory that a step has filled is removed beside the loop`() throws {
    let confiner = makeConfiner()
    for number in 1...3 {
      let start = try #require(try confiner.start(of: command(), in: run.directory))
      close(open(run.path(of: "tmp.\(number)/left"), O_CREAT | O_WRONLY, 0o600))
      // What was made for commands is removed by one process after the other.
      start.end()
      #expect(own.processIDs.count == 1)
    }
    while let process = own.awaited.first {
      var status: Int32 = 0
      #expect(waitpid(process, &status, 0) == process)
      own.reaped(process)
      temporary.goOn()
    }
    #expect(own.processIDs.isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: run.directory.path) == ["ws"])
  }

  @Test func `commands of several processes that share the directory of a run have their own`()
    throws
  {
    let others = TemporaryFolders(in: run.directory, own: own)
    #expect(
      try [temporary.make(), others.make(), temporary.make()] == ["tmp.1", "tmp.2", "tmp.3"])
    for number in 1...3 { temporary.remove("tmp.\(number)") }
    #expect(own.processIDs.isEmpty)
  }

  @Test func `nothing stays of a command for which no temporary directory can be made`() throws {
    let gone = TemporaryRun()
    rmdir(gone.directory.path)
    let confiner = Confiner(
      workspace: workspace, openLimit: 64, TemporaryFolders(in: gone.directory, own: own),
      kernelVersion: 3)
    #expect(throws: SystemError.self) {
      try confiner.start(of: self.command(outputs: ["x"]), in: gone.directory)
    }
    #expect(!exists("x"))
  }

  @Test func `every entry beside the workspace has a rule, whatever its name`() throws {
    let parent = run.directory.path
    for name in ["plain", "with space", ".hidden"] {
      try Data().write(to: URL(fileURLWithPath: "\(parent)/\(name)"))
    }
    let bytes: [CChar] = Array("\(parent)/".utf8CString.dropLast()) + [-1, -2, 0]
    close(open(bytes, O_CREAT | O_WRONLY, 0o600))
    symlink("plain", "\(parent)/link")
    var outside = OutsideRules(workspace: workspace, openLimit: 64)
    let wanted = ["plain", "with space", ".hidden"].map { Array($0.utf8CString.dropLast()) }
    #expect(Set(names(beside: parent, in: try outside.current())) == Set(wanted + [[-1, -2]]))
    try Data().write(to: URL(fileURLWithPath: "\(parent)/later"))
    let later = names(beside: parent, in: try outside.current())
    #expect(later.count == 5 && later.contains(Array("later".utf8CString.dropLast())))
  }

  @Test func `a directory beside the workspace is opened once, unless it may be unmounted`() throws
  {
    let parent = run.directory.path
    for name in ["plain", "more"] { mkdir("\(parent)/\(name)", 0o700) }
    close(open("\(parent)/file", O_CREAT | O_WRONLY, 0o600))
    var outside = OutsideRules(workspace: workspace, openLimit: 100_000)
    func opened(_ list: RuleList) -> Set<String> {
      Set(
        (0..<list.count).filter { list.rules[$0].file >= 0 }.map {
          String(cString: list.rules[$0].path)
        })
    }
    func here(_ list: RuleList) -> Set<String> {
      opened(list).filter { $0.hasPrefix(parent + "/") }
    }
    let list = try outside.current()
    // A file that is removed would take up its room as long as it is open.
    #expect(here(list) == ["\(parent)/plain", "\(parent)/more"] && !opened(list).contains("/proc"))
    let plain = descriptor(of: "\(parent)/plain", in: list)
    // The directory has just been changed, so it is listed again; what is still there stays open.
    mkdir("\(parent)/later", 0o700)
    let next = try outside.current()
    #expect(next !== list && here(next) == here(list).union(["\(parent)/later"]))
    #expect(descriptor(of: "\(parent)/plain", in: next) == plain)
    // Another directory of the same name is another one.
    rename("\(parent)/more", "\(parent)/plain")
    #expect(descriptor(of: "\(parent)/plain", in: try outside.current()) != plain)
    let later = wallTime() + 10_000_000_000
    // Other tests change what is around it.
    let isKept = try (0..<20).contains { number in
      try outside.current(at: later + number) === outside.current(at: later + number)
    }
    #expect(isKept)
    var few = OutsideRules(workspace: workspace, openLimit: 3)
    #expect(opened(try few.current(at: later + 20_000_000_000)).count == 3)
  }

  private func descriptor(of path: String, in list: RuleList) -> Int32? {
    (0..<list.count).first { String(cString: list.rules[$0].path) == path }.map {
      list.rules[$0].file
    }
  }

  private func names(beside parent: String, in list: RuleList) -> [[CChar]] {
    (0..<list.count).compactMap { index in
      let rule = list.rules[index]
      let path = Array(UnsafeBufferPointer(start: rule.path, count: strlen(rule.path)))
      guard path.starts(with: Array("\(parent)/".utf8CString.dropLast())) else { return nil }
      return Array(path.dropFirst(parent.utf8.count + 1))
    }
  }
}
