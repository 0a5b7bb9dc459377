// The CI runner around a run: which one reads what oprun writes, and through which stream.

import Diagnostics
import Execution
import Glibc
import Plans
import Reporting

struct CISurroundings {
  /// Nil if no runner reads.
  let options: CIOptions?
  /// A runner reads two streams in no particular order, so it gets all through one.
  let output: Int32
  let messages: Int32

  /// `isOutputTaken` says that standard output is for something else.
  init(_ invocation: Invocation, isOutputTaken: Bool) {
    let runner = Self.runner(of: invocation)
    // An oprun inside of a step writes into the output of the step.
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

  /// The runner that reads standard error.
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

  /// Has the runner hide the secrets, in what comes after oprun, too. These lines hold them: they must not
  /// pass through what masks.
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
