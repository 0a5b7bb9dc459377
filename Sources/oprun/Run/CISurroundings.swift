// The CI runner around a run: which one reads the output of oprun, and through which stream.

import Diagnostics
import Execution
import Glibc
import Plans
import Reporting

struct CISurroundings {
  /// The options for the runner; nil if none reads.
  let options: CIOptions?
  /// The stream for output. A runner reads two streams in no particular order, so it gets
  /// everything through one.
  let output: Int32
  let messages: Int32

  /// Looks for a runner. `isOutputTaken` says that standard output is for something else.
  init(_ invocation: Invocation, isOutputTaken: Bool) {
    let runner = Self.runner(of: invocation)
    // An oprun in a step writes into the output of the step.
    unsetenv(Options.ci.variable)
    options = runner.map(Self.options)
    let isTogether = runner != nil
    output = isTogether && isOutputTaken ? STDERR_FILENO : STDOUT_FILENO
    messages = isTogether && !isOutputTaken ? STDOUT_FILENO : STDERR_FILENO
  }

  static func runner(of invocation: Invocation) -> CIRunner? {
    invocation.choice(Options.ci, default: CIChoice.auto).runner(
      isInsideStep: isInsideStep, writesToFile: isFile(STDOUT_FILENO),
      environment: environmentValue)
  }

  private static var isInsideStep: Bool { environmentValue(OprunVariable.step.rawValue) != nil }

  /// The runner that reads standard error; nil if none does.
  static var runnerOutside: CIRunner? {
    isInsideStep || isFile(STDERR_FILENO) ? nil : CIRunner.detected(environmentValue)
  }

  private static func isFile(_ descriptor: Int32) -> Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  static func options(for runner: CIRunner) -> CIOptions {
    var options = CIOptions(runner)
    options.root = runner.rootVariable.flatMap(environmentValue)
    if let path = getcwd(nil, 0) {
      options.directory = String(cString: path)
      free(path)
    }
    return options
  }

  /// Tells the runner to hide the secrets, also in output after that of oprun. The lines for this
  /// contain the secrets, so they must not be masked.
  func writeMasks(_ secrets: Secrets) {
    guard let options else { return }
    let lines = options.runner.masks(secrets.forms)
    let sink = ByteSink(descriptor: output)
    for line in lines {
      sink.write(line)
      sink.writeNewline()
    }
    sink.flush()
  }
}
