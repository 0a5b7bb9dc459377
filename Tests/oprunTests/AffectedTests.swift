// Which steps changes affect, as one line per case; nothing is read or run.

import Caching
import Glibc
import Pipelines
import Plans
import Scheduling
import State
import Testing

@testable import oprun

@Suite struct `What a change affects` {
  private static let pipeline = """
    steps:
      - {id: gen, run: ./gen, cache: {inputs: [in, "!in/skip"], outputs: [gen.h]}}
      - id: build
        run: cc
        depends_on: [gen]
        cache: {inputs: [gen.h, "src/*.c"], outputs: [app]}
      - {id: unit, run: ./app, depends_on: [build], cache: {inputs: [app, ../data/x]}}
      - {id: docs, run: doc, working_dir: doc, cache: {inputs: ["**/*.md"], outputs: [site]}}
      - {id: lint, run: lint}
      - id: test
        run: test
        matrix: {os: [a, b]}
        cache: {inputs: ["os/${{ matrix.os }}"]}
      - {id: pack, run: tar, depends_on: [test], cache: {inputs: []}}
    """

  private func plan(_ text: String, _ selection: [String] = []) throws -> Plan {
    try makePlan(
      path: "p.yml", bytes: Array(text.utf8), options: PlanningOptions(selection: selection))
  }

  /// What changed files affect, and how it is named: `build unit | lint`.
  private func affected(
    _ text: String, _ files: [String], folders: [String] = [], outputs: [String] = [],
    edited: Set<String> = []
  ) throws -> String {
    let plan = try plan(text)
    let absolute = { (path: String) in path.hasPrefix("/") ? path : "/w/\(path)" }
    let paths = ChangedPaths(files.map(absolute), folders: folders.map(absolute))
    var changes = AffectedSteps.Changes(paths, anything: paths)
    changes.outputs = ChangedPaths(outputs.map(absolute))
    changes.edited = Set(
      plan.steps.indices.filter { edited.contains(plan.steps[$0].id) }.map { OperationID($0) })
    let steps = AffectedSteps(plan, changes, workspace: "/w")
    return [steps.steps, steps.selection].map { operations in
      operations.map { plan.steps[$0.index].id }.joined(separator: " ")
    }.joined(separator: " | ")
  }

  @Test(arguments: [
    ("in", "gen build unit lint | gen build unit lint"),
    ("in/a/b", "gen build unit lint | gen build unit lint"),
    ("in/skip", "lint | lint"),
    ("src/a.c", "build unit lint | build unit lint"),
    ("src/a/b.c", "lint | lint"),
    ("/data/x", "unit lint | unit lint"),
    ("doc/a/b.md", "docs lint | docs lint"),
    ("doc/.hidden/b.md", "lint | lint"),
    ("a.md", "lint | lint"),
    ("os/a", "lint test[os=a] pack | lint test[os=a] pack"),
  ])
  func `a file affects those that declare it, those that declare nothing, and what comes after`(
    file: String, steps: String
  ) throws {
    #expect(try affected(Self.pipeline, [file]) == steps)
  }

  @Test func `a wide scratch hides no inputs, but outputs are made`() throws {
    let text = """
      steps:
        - {id: compile, depends_on: [pack], run: cc, cache: {inputs: ["*.c", "!x.c", lib.a], outputs: [a.o]}}
        - {id: pack, run: ar, cache: {inputs: [], outputs: [lib.a], scratch: ["*", "tmp/**"]}}
      """
    let declarations = Declarations(try plan(text), workspace: "/w")
    let made = ["a.c", "x.c", "a.o", "lib.a", "other", "tmp/a.c"].filter {
      declarations.make("/w/\($0)")
    }
    #expect(made == ["x.c", "a.o", "lib.a", "other", "tmp/a.c"])
  }

  @Test func `nothing has changed, and nothing is affected`() throws {
    #expect(try affected(Self.pipeline, []) == " | ")
  }

  @Test func `all instances are one step, and an edited group is all that is in it`() throws {
    #expect(
      try affected(Self.pipeline, ["os/a", "os/b"])
        == "lint test[os=a] test[os=b] pack | lint test pack")
    #expect(
      try affected(Self.pipeline, [], edited: ["test"])
        == "test[os=a] test[os=b] pack | test pack")
  }

  @Test func `an output that was changed affects its step`() throws {
    #expect(
      try affected(Self.pipeline, [], outputs: ["doc/site/index.html"]) == "docs | docs")
  }

  @Test func `a directory of which nothing more is known affects all that look into it`() throws {
    #expect(
      try affected(Self.pipeline, [], folders: ["doc/sub"]) == "docs lint | docs lint")
    #expect(try affected(Self.pipeline, [], folders: ["src/sub"]) == "lint | lint")
  }

  @Test func `a service is company, unless it declares something or was edited`() throws {
    let text = """
      steps:
        - {id: db, run: serve, background: true}
        - {id: a, run: a, depends_on: [db], cache: {inputs: [a]}}
        - {id: b, run: b, cache: {inputs: [b]}}
      """
    #expect(try affected(text, ["b"]) == "b | b")
    #expect(try affected(text, ["a"]) == "a | a")
    #expect(try affected(text, [], edited: ["db"]) == "db a | db a")
  }

  @Test func `what is known only during the run may be anything`() throws {
    let text = """
      steps:
        - {id: a, run: a, cache: {inputs: []}}
        - id: b
          run: b
          depends_on: [a]
          cache: {inputs: ["x/${{ steps.a.outputs.x }}"]}
      """
    #expect(try affected(text, ["y"]) == "b | b")
  }

  @Test func `commands of variables are not named`() throws {
    let text = """
      vars: {v: {run: git describe}}
      steps:
        - {id: a, run: [echo, "${{ vars.v }}"], cache: {inputs: []}}
        - {id: b, run: b, cache: {inputs: [b]}}
      """
    #expect(try affected(text, ["y"]) == "a | a")
  }

  @Test func `edited steps are those of which something counts that was different`() throws {
    let before = try plan(Self.pipeline)
    func edited(_ text: String, _ replacement: String) throws -> [String] {
      let after = try plan(Self.pipeline.replacing(text, with: replacement))
      let edited = EditedSteps(of: after, since: before, nil)
      return edited.all.sorted().map { edited.new.contains($0) ? "new \($0)" : $0 }
    }
    #expect(try edited("run: lint", "run: lint, timeout: 5s, name: Lint") == [])
    #expect(try edited("run: lint", "run: lint -a") == ["lint"])
    #expect(try edited("[in, \"!in/skip\"]", "[in]") == ["gen"])
    #expect(try edited("id: lint", "id: check") == ["new check"])
    #expect(try edited("run: doc,", "run: doc, depends_on: [gen],") == ["docs"])
    #expect(try edited("os: [a, b]", "os: [a, c]") == ["test", "new test[os=c]"])
  }
}

@Suite struct `A watch of thousands of files` {
  private func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// Asking each pattern about each directory would take minutes.
  @Test func `starts at once`() throws {
    let names = (0..<4000).map { "d\($0)" }
    let inputs = names.map { "\($0)/file" } + names.map { "\($0)/*.c" }
    let text = "steps: [{id: a, run: a, cache: {inputs: [\(inputs.joined(separator: ", "))]}}]"
    let plan = try makePlan(
      path: "p.yml", bytes: Array(text.utf8), options: PlanningOptions(selection: []))
    let start = processorTime()
    let watched = WatchedPipeline(
      plan, sources: [PathName("/w/p.yml")], workspace: "/w", state: "/w/.oprun")
    let wanted = names.filter { watched.wants(WatchedPath(root: "/w/\($0)"), isIgnored: false) }
    let unwanted = names.filter {
      watched.wants(WatchedPath(root: "/w/\($0)/deep"), isIgnored: false)
    }
    let plain = names.filter { watched.wants(WatchedPath(root: "/w/\($0)"), isIgnored: true) }
    #expect([wanted.count, unwanted.count, plain.count] == [4000, 0, 4000])
    #expect(processorTime() - start < 60)
  }
}
