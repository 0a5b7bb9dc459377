// `oprun init`: the first pipeline of a project.

import Pipelines
import Testing

@testable import oprun

@Suite struct `A starter` {
  private func starter(_ files: [String: String]) -> Starter { Starter { files[$0] } }

  private func commands(_ files: [String: String]) -> [String] {
    starter(files).steps.map { step in
      step.id + (step.dependency.map { " after \($0)" } ?? "") + ": " + step.command
    }
  }

  @Test func `is commented`() {
    #expect(
      starter(["Package.swift": ""]).text == """
        # Steps run in parallel, except where 'depends_on' says otherwise.
        #
        #   oprun             run them
        #   oprun --dry-run   show what would run, in which order and why
        #   oprun test        run one step, and what it needs
        #
        # A step can also have 'env', 'timeout', 'retry', 'matrix', 'if' and much more.

        steps:
          - id: build
            run: swift build

          - id: test
            depends_on: [build]
            run: swift test

        """)
  }

  @Test func `runs the scripts of a package with the tool that locks it`() {
    let package = #"{"name": "x", "scripts": {"test": "jest", "build": "tsc", "start": "node ."}}"#
    #expect(
      commands(["package.json": package]) == [
        "install: npm install", "build after install: npm run build",
        "test after install: npm run test",
      ])
    #expect(
      commands(["package.json": package, "yarn.lock": ""]).first
        == "install: yarn install --immutable")
    #expect(commands(["package.json": "{broken"]) == ["install: npm install"])
    #expect(commands(["package.json": #"{"scripts": ["test"]}"#]) == ["install: npm install"])
  }

  @Test func `makes the usual targets of a makefile`() {
    let makefile = """
      CC := gcc
      x = a:b
      .PHONY: all test
      all test-all: main.o
      %.o: %.c
      lint check::
      \ttest: not a target
      # build: neither
      """
    #expect(
      commands(["Makefile": makefile]) == [
        "build: make all", "lint: make lint", "check after build: make check",
      ])
    #expect(commands(["Makefile": "x: y\n"]) == ["build: make"])
  }

  @Test func `tells the steps of several kinds apart`() {
    #expect(
      commands(["go.mod": "", "Dockerfile": ""]) == [
        "go:vet: go vet ./...", "go:build: go build ./...",
        "go:test after go:build: go test ./...", "docker:image: docker build .",
      ])
    #expect(starter(["go.mod": "", "Dockerfile": ""]).text.contains("manual: true"))
  }

  @Test(arguments: [
    [], ["Package.swift"], ["Cargo.toml"], ["go.mod"], ["package.json"], ["pyproject.toml"],
    ["requirements.txt"], ["CMakeLists.txt"], ["meson.build"], ["pom.xml"], ["build.gradle.kts"],
    ["Gemfile"], ["Makefile"], ["Dockerfile"],
    [
      "Package.swift", "Cargo.toml", "go.mod", "package.json", "setup.py", "Makefile", "Dockerfile",
    ],
  ])
  func `is valid`(files: [String]) throws {
    let text = starter(Dictionary(uniqueKeysWithValues: files.map { ($0, "") })).text
    let pipeline = LoadedPipeline(path: "oprun.yml", bytes: Array(text.utf8), files: .none)
    _ = try pipeline.plan(PlanningOptions())
  }
}
