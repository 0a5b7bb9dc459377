// The way from a file name to a plan, or to the reason why there is none, for all commands.

import Diagnostics
import Execution
import Glibc
import Masking
import Pipelines
import Plans
import Processors
import Reporting

extension Tool {
  /// The name of standard input in messages.
  static let standardInputName = "<stdin>"

  /// The bytes of a pipeline file; nil if they cannot be read, which has been reported.
  func read(_ path: String, tell: (InputFailure) -> Void = { _ in }) -> [UInt8]? {
    do throws(InputFailure) {
      return try readPipelineFile(path)
    } catch {
      let failure = InputFailure(
        error.message, help: error.help ?? didYouMean(fileMeant(by: path)))
      tell(failure)
      say(failure.message, help: failure.help)
      return nil
    }
  }

  /// A plan, or the exit status for the failure that has been reported.
  func plan(_ path: String, _ options: PlanningOptions) -> Result<Plan, ReportedFailure> {
    guard var pipeline = load(path, options) else {
      return .failure(ReportedFailure(status: ExitStatus.invalidPipeline))
    }
    let reading = readSecrets(of: &pipeline)
    return plan(path, pipeline, options, reading)
  }

  /// The pipeline in a file; nil if the file cannot be read, which has been reported.
  func load(
    _ path: String, _ options: PlanningOptions, tell: (InputFailure) -> Void = { _ in }
  ) -> LoadedPipeline? {
    guard let bytes = read(path, tell: tell) else { return nil }
    let name = path == "-" ? Self.standardInputName : path
    return LoadedPipeline(path: name, bytes: bytes, files: options.files)
  }

  /// The secrets that are available. Everything that is written from now on is masked.
  func readSecrets(of pipeline: inout LoadedPipeline) -> SecretReading {
    let sources = pipeline.secrets
    if !sources.isEmpty { closeMemory() }
    let reading = SecretReading(of: sources)
    guard let masker = reading.secrets.masker else { return reading }
    mask(masker)
    pipeline.renewMessages()
    return reading
  }

  /// Masks all text that is written from now on.
  func mask(_ masker: Masker) {
    output.masker = masker
    errors.masker = masker
    hideBeforeCutting(masker.mask)
  }

  func plan(
    _ path: String, _ pipeline: LoadedPipeline, _ options: PlanningOptions,
    _ reading: SecretReading
  ) -> Result<Plan, ReportedFailure> {
    plan(pipeline, options, reading) { explain($0, path, nil) }
  }

  /// The plan for a command line, whose first operand is the file.
  func plan(
    _ invocation: Invocation, _ pipeline: LoadedPipeline, _ options: PlanningOptions,
    _ reading: SecretReading
  ) -> Result<Plan, ReportedFailure> {
    plan(pipeline, options, reading) { explain($0, invocation.operands[0], invocation) }
  }

  private func plan(
    _ pipeline: LoadedPipeline, _ options: PlanningOptions, _ reading: SecretReading,
    explain: (PlanningFailure) -> Int32
  ) -> Result<Plan, ReportedFailure> {
    do throws(PlanningFailure) {
      return .success(try pipeline.plan(options.refusing(reading.secrets)))
    } catch {
      return .failure(ReportedFailure(status: explain(error), reason: error))
    }
  }

  /// The options for a listing, in which parameters may be unknown.
  func listingOptions(_ invocation: Invocation) -> PlanningOptions {
    var options = PlanningOptions()
    options.processorCount = availableProcessorCount
    options.demandsAllParameters = false
    options.showsEveryStep = true
    setParameters(of: &options, invocation)
    return options
  }

  func setParameters(of options: inout PlanningOptions, _ invocation: Invocation) {
    options.parameters = invocation.assignments(Options.param).map {
      ParameterArgument(name: $0.name, value: $0.value)
    }
    options.rest = invocation.arguments
    setSurroundings(of: &options)
  }

  /// Sets what planning may use in addition to the file.
  func setSurroundings(of options: inout PlanningOptions) {
    options.inherited = InheritedVariables(
      value: { inheritedVariable($0) }, names: { Array(inheritedEnvironment().values.keys) })
    options.files = .system
    options.host = hostFacts()
    options.workspace = currentDirectory()
  }

  func hostFacts() -> HostFacts {
    var facts = HostFacts()
    facts.processorCount = availableProcessorCount
    var system = utsname()
    guard uname(&system) == 0 else { return facts }
    facts.name = text(of: system.nodename)
    facts.architecture = text(of: system.machine)
    facts.operatingSystem = text(of: system.sysname).lowercased()
    return facts
  }

  /// The string in a field of fixed size.
  private func text<Field>(of field: Field) -> String {
    withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }

  private func explain(
    _ failure: PlanningFailure, _ path: String, _ invocation: Invocation?
  ) -> Int32 {
    switch failure {
    case .invalid(let diagnostics, let sources):
      say(diagnostics, in: sources)
      return ExitStatus.invalidPipeline
    case .unknownSteps(let steps):
      say(steps, invocation)
      return ExitStatus.usage
    case .emptySelection(let message, let help):
      say(message, help: help)
      return ExitStatus.emptySelection
    case .badParameters(let faults):
      for message in faults.messages { say(message) }
      if faults.omittedCount > 0 { say("… and \(faults.omittedCount) more") }
      if let word = invocation?.optionBehindDashes {
        errors.write("  help: '--' ends the options of oprun: write \(quoted(word)) before it\n")
      }
      errors.write("try 'oprun run \(wordForHelp(path) ?? "FILE") --help'\n")
      return ExitStatus.usage
    }
  }

  /// Shows faults of files, also to the CI runner around oprun.
  func say(_ diagnostics: [Diagnostic], in sources: SourceMap) {
    errors.write(
      render(
        diagnostics, in: sources, color: isColored(STDERR_FILENO, .auto),
        columns: Terminal.width(of: STDERR_FILENO)))
    guard let runner = CISurroundings.runnerOutside else { return }
    errors.write(annotationsOf: diagnostics, in: sources, for: CISurroundings.options(for: runner))
  }

  func isColored(_ descriptor: Int32, _ choice: ColorChoice) -> Bool {
    choice.isOn(isTerminal: Terminal.isTerminal(descriptor), environment: environmentValue)
  }

  /// Keeps a terminal from wrapping the lines of a listing.
  func clipOutput() {
    output.lineWidth = Terminal.width(of: STDOUT_FILENO)
    shareOutputWithRunner()
  }

  /// Keeps text for people in the log of a CI job free of commands to the runner.
  func shareOutputWithRunner() {
    if let runner = CIRunner.detected(environmentValue) { output.makeHarmless(to: runner) }
  }

  func drawingOptions(_ invocation: Invocation) -> DrawingOptions {
    var options = DrawingOptions()
    options.usesASCII = invocation.isOn(Options.ascii)
    output.spellsInASCII = options.usesASCII
    options.isVerbose = invocation.isOn(Options.verbose)
    options.isColored = isColored(
      STDOUT_FILENO, invocation.choice(Options.color, default: ColorChoice.auto))
    options.columns = Terminal.width(of: STDOUT_FILENO) ?? options.columns
    return options
  }
}

extension PlanningOptions {
  /// The options, with which no value that contains a secret gets into a command.
  func refusing(_ secrets: Secrets) -> PlanningOptions {
    guard secrets.masker != nil else { return self }
    var options = self
    options.secretHeld = secrets.name(heldBy:)
    return options
  }
}

/// A failure that has been reported; there is no plan.
struct ReportedFailure: Error {
  let status: Int32
  var reason: PlanningFailure?
}

extension SecretReading {
  /// Reads secrets from files and the environment of oprun.
  init(of sources: [SecretSource]) {
    self.init(sources) { name in
      getenv(name).map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
    }
  }
}
