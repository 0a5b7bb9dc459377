// `oprun test`: rehearses pipelines and compares the results with the expected ones.

import Diagnostics
import Glibc
import Pipelines
import Plans
import Reporting

extension Tool {
  func test(_ invocation: Invocation) throws(UsageFailure) -> Int32 {
    try RunRecorders.check(invocation, read: invocation.operands.map(testPath))
    var files: [TestedFile] = []
    var isValid = true
    for path in invocation.operands {
      if let file = testedFile(path) { files.append(file) } else { isValid = false }
    }
    try RunRecorders.check(invocation, read: files.map(\.pipeline))
    if invocation.isOn(Options.update) {
      for file in files {
        if let status = update(file) { return status }
      }
    }
    if let target = invocation.text(Options.testJUnit) {
      do throws(SystemError) {
        let text = TestReport.junit(files.map { ($0.path, $0.sources, $0.results) })
        try replaceFile(target, with: Array(text.utf8))
      } catch {
        say(error.message)
        return ExitStatus.cannotWrite
      }
    }
    if invocation.isOn(Options.json) {
      TestReport.write(json: files.map { ($0.path, $0.sources, $0.results) }, to: output)
    } else {
      shareOutputWithRunner()
      for file in files { show(file, invocation) }
    }
    if !isValid { return ExitStatus.invalidPipeline }
    let isOK = files.allSatisfy {
      invocation.isOn(Options.update) ? $0.lastingFaultCount == 0 : $0.faultCount == 0
    }
    return isOK ? ExitStatus.success : 1
  }

  /// A rehearsed file with tests; nil if the file or its pipeline cannot be used, which has been reported.
  private func testedFile(_ operand: String) -> TestedFile? {
    let path = testPath(of: operand)
    if path != operand, access(operand, F_OK) == 0, access(path, F_OK) != 0 {
      say(
        "\(quoted(operand)) has no tests: \(quoted(path)) does not exist",
        help:
          "'oprun explain cases.expect' and testing-pipelines.md in the documentation say what to write in it; 'oprun run test' runs a step 'test'"
      )
      return nil
    }
    return read(access(path, F_OK) == 0 ? path : operand).flatMap { rehearsed(path, $0) }
  }

  private func rehearsed(_ path: String, _ bytes: [UInt8]) -> TestedFile? {
    let tests: TestFile
    do throws(TestFileFailure) {
      tests = try readTests(path: path, bytes: bytes)
    } catch {
      errors.write(
        render(error.diagnostics, in: error.sources, on: terminal(STDERR_FILENO)))
      return nil
    }
    let slash = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    let pipeline = tests.pipeline.map { $0.hasPrefix("/") ? $0 : slash + $0 } ?? usualPipeline(path)
    var options = PlanningOptions()
    options.files = .system
    guard let loaded = load(pipeline, options) else { return nil }
    return TestedFile(path, bytes: bytes, tests, pipeline: pipeline, loaded)
  }

  /// The path of the tests of a pipeline: `release.test.yml` for `release.yml`.
  private func testPath(of operand: String) -> String {
    for ending in [".yml", ".yaml"] where operand.hasSuffix(ending) {
      let stem = operand.dropLast(ending.utf8.count)
      return stem.hasSuffix(".test") ? operand : "\(stem).test\(ending)"
    }
    return operand
  }

  private func usualPipeline(_ path: String) -> String {
    for ending in [".test.yml", ".test.yaml"] where path.hasSuffix(ending) {
      return String(path.dropLast(ending.utf8.count)) + String(ending.dropFirst(5))
    }
    return path
  }

  /// Updates a file with tests; returns the exit status if that is not possible, which has been reported.
  private func update(_ file: TestedFile) -> Int32? {
    let bytes = file.updated
    if bytes == file.bytes { return nil }
    // Where cases share an expectation, the result of one may be wrong for another.
    guard let bytes, let updated = rehearsed(file.path, bytes),
      updated.results.allSatisfy({ $0.faults.allSatisfy { !$0.canBeWritten } })
    else {
      say(
        "\(quoted(file.path)) is not updated: cases with different results share one 'expect'",
        help: "write an 'expect' for each case, without aliases and '<<'")
      return 1
    }
    do throws(SystemError) {
      try replaceFile(file.path, with: bytes)
      return nil
    } catch {
      say(error.message)
      return ExitStatus.cannotWrite
    }
  }

  private func show(_ file: TestedFile, _ invocation: Invocation) {
    let isUpdate = invocation.isOn(Options.update)
    let diagnostics = file.diagnostics(lastingOnly: isUpdate)
    if !diagnostics.isEmpty {
      output.write(
        render(
          diagnostics, in: file.sources,
          on: terminal(STDOUT_FILENO, invocation.choice(Options.color, default: .auto))))
    }
    for result in isUpdate ? [] : file.results
    where !result.isOK || invocation.isOn(Options.verbose) {
      output.write("\n\(result.isOK ? "✓" : "✗") \(oneLine(result.test.name))\n")
      for line in result.timeline { output.write("\(oneLine(line))\n") }
    }
    if !isUpdate, file.faultCount > 0 || invocation.isOn(Options.verbose) { output.write("\n") }
    let count = file.results.count
    output.write("\(pathAtLineStart(file.path)): \(count) case\(count == 1 ? "" : "s"), ")
    if isUpdate {
      output.write(file.updated == file.bytes ? "nothing to update\n" : "updated\n")
    } else if file.faultCount == 0 {
      output.write("all ok\n")
    } else {
      output.write("\(count - file.faultCount) ok, \(file.faultCount) failed\n")
    }
  }
}
