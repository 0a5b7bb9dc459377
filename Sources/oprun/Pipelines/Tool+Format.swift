// `oprun fmt`: formats pipeline files and files with tests, or shows what that would change.

import Diagnostics
import Execution
import Formatting
import Glibc
import Pipelines
import Reporting

extension Tool {
  func format(_ invocation: Invocation) -> Int32 {
    let files = invocation.operands.map { fileToFormat($0) }
    let parts = Set(files.flatMap { $0?.parts ?? [] })
    var status = ExitStatus.success
    for file in files {
      let result = file.map { format($0, parts, invocation) } ?? ExitStatus.invalidPipeline
      // A fault in a file outweighs its format.
      status = max(status, result)
    }
    return status
  }

  private func format(
    _ file: FileToFormat, _ parts: Set<String>, _ invocation: Invocation
  ) -> Int32 {
    if let diagnostics = file.diagnostics, !parts.contains(file.identity) {
      errors.write(render(diagnostics, in: file.sources, on: terminal(STDERR_FILENO)))
      return ExitStatus.invalidPipeline
    }
    do throws(FormattingFailure) {
      let text = try FormattedText(file.bytes)
      return invocation.isOn(Options.check) ? check(file, text) : replace(file, text)
    } catch {
      say(
        "\(quoted(file.path)) cannot be formatted without changing its meaning",
        help: "this is a bug in oprun: please report it; the file is unchanged")
      return ExitStatus.internalError
    }
  }

  private func check(_ file: FileToFormat, _ text: FormattedText) -> Int32 {
    guard text.isChanged else { return ExitStatus.success }
    shareOutputWithRunner()
    text.diff(named: oneLine(file.path)).withUnsafeBytes { output.write($0) }
    output.flush()
    errors.write("not formatted: \(quoted(file.path))\n")
    return ExitStatus.wouldChange
  }

  private func replace(_ file: FileToFormat, _ text: FormattedText) -> Int32 {
    guard !file.isStandardInput else {
      // The text is the caller's own file, not a message about it.
      output.masker = nil
      text.bytes.withUnsafeBytes { output.write($0) }
      return ExitStatus.success
    }
    guard text.isChanged else { return ExitStatus.success }
    do throws(SystemError) {
      try replaceFile(file.path, with: text.bytes)
      errors.write("formatted \(quoted(file.path))\n")
      return ExitStatus.success
    } catch {
      say(error.message)
      return ExitStatus.cannotWrite
    }
  }

  /// A file with its faults; nil if it cannot be read, which has been reported.
  private func fileToFormat(_ operand: String) -> FileToFormat? {
    guard let bytes = read(operand) else { return nil }
    let path = operand == "-" ? Self.standardInputName : operand
    var file = FileToFormat(path: path, bytes: bytes, isStandardInput: operand == "-")
    if file.holdsTests {
      do throws(TestFileFailure) {
        _ = try readTests(path: path, bytes: bytes)
      } catch {
        (file.diagnostics, file.sources) = (error.diagnostics, error.sources)
      }
      return file
    }
    let options = validationOptions()
    var pipeline = LoadedPipeline(path: path, bytes: bytes, files: options.files)
    let secrets = readSecrets(of: &pipeline).secrets
    do throws(PlanningFailure) {
      _ = try pipeline.plan(options.refusing(secrets))
    } catch {
      if case .invalid(let diagnostics, let sources) = error {
        (file.diagnostics, file.sources) = (diagnostics, sources)
        return file
      }
    }
    file.parts = pipeline.paths.map(PipelineFiles.system.identity)
    return file
  }
}

/// A file that was read and checked.
private struct FileToFormat {
  let path: String
  let bytes: [UInt8]
  let isStandardInput: Bool
  /// The faults of the file as a pipeline of its own.
  var diagnostics: [Diagnostic]?
  var sources = SourceMap()
  /// The files of the pipeline, if it has no faults.
  var parts: [String] = []

  /// True for a file with tests; standard input has no name that tells, so its content does.
  var holdsTests: Bool {
    guard isStandardInput else {
      return path.hasSuffix(".test.yml") || path.hasSuffix(".test.yaml")
    }
    let lines = bytes.split(separator: UInt8(ascii: "\n"))
    return lines.contains { $0.starts(with: "cases:".utf8) }
      && !lines.contains { $0.starts(with: "steps:".utf8) }
  }

  var identity: String { PipelineFiles.system.identity(path) }
}
