// Checks that every pipeline in the repository does what it says.

import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct ExamplePipelinesTests {
  @Test(arguments: [
    "hello.yml", "failure-tour.yml", "build-c.yml", "matrix.yml", "release.yml", "thumbnails.yml",
    "compose.yml",
  ])
  func `an example runs and succeeds`(file: String) throws {
    let workspace = try Workspace(named: "work", holding: [pipelines])
    let end = try workspace.run("oprun Pipelines/\(file) 2>&1")
    #expect(end.status == 0, "\(end.output)")
  }

  /// `Scripts/test-slurm` runs it on a cluster.
  @Test func `the example for a cluster runs here, too`() throws {
    let workspace = try Workspace(named: "work", holding: [pipelines])
    let end = try workspace.run(
      "oprun Pipelines/cluster.yml --executor local --param below=10000 2>&1")
    #expect(end.status == 0, "\(end.output)")
    #expect(end.output.contains("there are 1229 prime numbers below 10000"), "\(end.output)")
  }

  @Test(arguments: ["thumbnails.yml", "compose.yml"])
  func `an example with a service needs one slot`(file: String) throws {
    let workspace = try Workspace(named: "work", holding: [pipelines])
    let end = try workspace.run("oprun run -j 1 Pipelines/\(file) 2>&1")
    #expect(end.status == 0, "\(end.output)")
  }

  @Test func `hello finds the primes and cleans up`() throws {
    let workspace = try Workspace(named: "work", holding: [pipelines])
    let end = try workspace.run("oprun Pipelines/hello.yml 2>&1")
    #expect(end.output.contains("148933 primes, the largest is 1999993"))
    #expect(try workspace.run("ls").output == "Pipelines\n")
  }

  @Test func `every pipeline of the repository is tested here`() throws {
    let found = try FileManager.default.contentsOfDirectory(atPath: pipelines.path)
      .filter { $0.hasSuffix(".yml") && !$0.hasSuffix(".test.yml") }.sorted()
    #expect(
      found == [
        "build-c.yml", "ci.yml", "cluster.yml", "compose.yml", "failure-tour.yml", "hello.yml",
        "matrix.yml",
        "release.yml", "thumbnails.yml",
      ])
  }

  @Test func `their tests say what they do`() throws {
    let workspace = try Workspace(named: "work", holding: [pipelines])
    let end = try workspace.run("oprun test Pipelines/*.test.yml 2>&1")
    #expect(end.status == 0, "\(end.output)")
    #expect(end.output.split(separator: "\n").count == 8, "\(end.output)")
  }

  /// These tests are part of that pipeline, so they cannot run it; `Scripts/check` does.
  @Test func `the pipeline of our own checks is valid`() throws {
    let workspace = try Workspace(named: "work", holding: [pipelines])
    let end = try workspace.run("oprun run --dry-run Pipelines/ci.yml 2>&1")
    #expect(end.status == 0, "\(end.output)")
  }
}

private let pipelines = repository.appending(path: "Pipelines")
