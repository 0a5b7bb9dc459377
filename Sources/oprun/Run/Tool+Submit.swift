// `oprun submit`: submits a pipeline as one job of Slurm. The pipeline is checked here; everything
// else happens in the job. A word tells the job apart from others, however often Slurm starts it.

import CLinux
import Diagnostics
import Execution
import Expressions
import Glibc
import Masking
import Pipelines
import Plans
import Reporting
import RunFiles

extension Tool {
  func submit(_ invocation: Invocation) throws(UsageFailure) -> Int32 {
    let file = invocation.operands[0]
    if file == "-" { throw .submitsStandardInput(invocation.command) }
    if let word = SubmittedRun.refusedWord(among: invocation.rest) {
      throw .submitsOtherwise(word, invocation.command)
    }
    let options = planningOptions(invocation, nil)
    guard var pipeline = load(file, options) else { return ExitStatus.invalidPipeline }
    let reading = readSecrets(of: &pipeline)
    let plan: Plan
    switch self.plan(invocation, pipeline, options, reading) {
    case .failure(let exit): return exit.status
    case .success(let known): plan = known
    }
    let secret = plan.secrets.first { $0.location == .environment }
    if let secret {
      say(
        "secret \(quoted(secret.name)) comes from the environment, which Slurm keeps with the job",
        help: "read it from a file, with 'from: file'")
      return ExitStatus.usage
    }
    // A secret that is missing here may exist where the job runs.
    let secrets = reading.secrets
    let given = invocation.assignments(Options.param).first {
      secrets.masker?.finds(in: $0.value) == true
    }
    if let given {
      say(
        "parameter \(quoted(given.name)) holds a secret, and Slurm keeps what is submitted",
        help: "let the pipeline read it, with 'secrets' and 'from: file'")
      return ExitStatus.usage
    }
    keepUntilExit(plan)
    return submit(invocation, secrets)
  }

  private func submit(_ invocation: Invocation, _ secrets: Secrets) -> Int32 {
    do throws(SystemError) {
      let folder = try currentFolder()
      let isDryRun = invocation.isOn(Options.submitNothing)
      guard let program = isDryRun ? "oprun" : try program(invocation) else {
        return ExitStatus.cannotWrite
      }
      let submission = SubmittedRun(
        invocation, word: isDryRun ? "WORD" : SubmittedRun.newWord(), program: program,
        state: absolute(stateDirectory(invocation), in: folder),
        folder: folder)
      if isDryRun {
        output.write(submission.shown)
        return ExitStatus.success
      }
      withhold(secrets)
      output.flush()
      throw submission.perform()
    } catch {
      say(error.message)
      return ExitStatus.internalError
    }
  }

  /// Removes variables that contain a secret: Slurm keeps the environment of a job, and gives it to
  /// whoever restarts the job.
  private func withhold(_ secrets: Secrets) {
    let names = SlurmVariables(masker: secrets.masker).secret.map(\.name)
    for name in names { unsetenv(name) }
    if names.isEmpty { return }
    say("variables that hold a secret are not given to the job: \(names.joined(separator: ", "))")
    errors.flush()
  }

  /// The absolute path of a copy of oprun that nodes see; nil if there can be none, which has been reported.
  private func program(_ invocation: Invocation) throws(SystemError) -> String? {
    let path = absolute(stateDirectory(invocation), in: try currentFolder())
    let state: StateFolder
    do throws(StateFailure) {
      state = try StateDirectory(path: path).make()
    } catch {
      say(error.message, help: error.help)
      return nil
    }
    return try copyProgram(to: state)
  }
}

private func absolute(_ path: String, in folder: String) -> String {
  path.hasPrefix("/") ? path : "\(folder)/\(path)"
}

/// One call of `sbatch`, as a value.
struct SubmittedRun {
  /// The words of the command.
  let words: [String]
  /// The script of the job.
  let script: String

  /// Makes the call. The runs of the job are found by the word.
  init(_ invocation: Invocation, word: String, program: String, state: String, folder: String) {
    var run = ["run", "--executor=slurm", "--state-dir=\(state)"]
    run += invocation.words(of: SubmittedRun.passed)
    run += [operandWord(invocation.operands[0])] + invocation.operands.dropFirst()
    let file = invocation.operands[0].split(separator: "/").last.map(String.init) ?? "oprun"
    words =
      [
        "sbatch", "--job-name=\(SubmittedRun.jobName(file))", "--chdir=\(folder)", "--requeue",
        "--open-mode=append",
      ] + invocation.rest
    script = """
      #!/bin/sh
      export \(SubmittedRun.variable)=\(word)
      exec \(([program] + run).map(shellQuoted).joined(separator: " "))

      """
  }

  // MARK: The job

  /// The variable in which the job finds the word of its submission.
  private static let variable = "OPRUN_SUBMISSION"

  static func newWord() -> String { String(UInt64.random(in: 0...UInt64.max), radix: 36) }

  /// The word of the submission to which this job belongs; nil elsewhere. It is removed from the
  /// environment, because runs that steps start are not those of the job.
  static let own: String? = {
    defer { unsetenv(variable) }
    return environmentValue(variable)
  }()

  /// The word if Slurm has restarted the job, which goes on where it was; nil otherwise.
  static var resumed: String? {
    guard let own, let count = environmentValue("SLURM_RESTART_COUNT"), count != "0" else {
      return nil
    }
    return own
  }

  /// The options that the job's oprun gets.
  static let passed = [
    Options.param, Options.jobs, Options.failFast, Options.failurePolicy, Options.strict,
    Options.timeout, Options.durable, Options.lock, Options.noCache, Options.refresh,
  ]

  /// A word for `sbatch` that would make a different job: an array, or another script; nil if there is none.
  static func refusedWord(among words: [String]) -> String? {
    // True if the next word may be the value of an option.
    var takesValue = false
    for word in words {
      defer { takesValue = mayTakeValue(word) }
      guard word.hasPrefix("-"), word != "-" else {
        if takesValue { continue }
        return word
      }
      if word == "--" || isOfAnotherJob(word) { return word }
    }
    return nil
  }

  /// True for `--array` or `--wrap`, or the beginning of one of them, and for `-a`, also after
  /// letters without a value.
  private static func isOfAnotherJob(_ word: String) -> Bool {
    guard word.hasPrefix("--") else {
      return word.dropFirst().drop(while: switches.contains).first == "a"
    }
    let name = word.dropFirst(2).prefix { $0 != "=" }
    return name.utf8.count > 1 && ("array".hasPrefix(name) || "wrap".hasPrefix(name))
  }

  /// True if the value of an option may follow as a separate word.
  private static func mayTakeValue(_ word: String) -> Bool {
    if word.hasPrefix("--") {
      // Names of options may be abbreviated.
      let name = word.dropFirst(2)
      return !word.contains("=") && !longSwitches.contains { $0.hasPrefix(name) }
    }
    let letters = word.dropFirst()
    return word.hasPrefix("-") && letters.drop(while: switches.contains).count == 1
  }

  /// The options of `sbatch` without a value, or with one that must be attached.
  private static let switches = Set<Character>("hHIkOQsvVW")
  private static let longSwitches: Set<String> = [
    "contiguous", "exclusive", "get-user-env", "help", "hold", "ignore-pbs", "nice", "no-kill",
    "no-requeue", "oom-kill-step", "overcommit", "oversubscribe", "parsable", "propagate", "quiet",
    "reboot", "requeue", "share", "spread-job", "stepmgr", "test-only", "usage", "use-min-nodes",
    "verbose", "version", "wait",
  ]

  /// The call as a shell command, for people.
  var shown: String {
    words.map(shellQuoted).joined(separator: " ") + " <<'EOF'\n" + script + "EOF\n"
  }

  /// Becomes `sbatch`, which prints the job's number; returns if that is not possible.
  func perform() -> SystemError {
    let file = clinux_memory_file("oprun")
    guard file >= 0 else { return SystemError("cannot create a file in memory", errno: -file) }
    let bytes = Array(script.utf8)
    guard write(file, bytes, bytes.count) == bytes.count, lseek(file, 0, SEEK_SET) == 0,
      dup2(file, STDIN_FILENO) == STDIN_FILENO
    else { return SystemError("cannot create a file in memory", errno: errno) }
    SubmittedRun.forgetOtherJobs()
    var pointers = words.map { strdup($0) } + [nil]
    execvp("sbatch", &pointers)
    return SystemError("cannot run 'sbatch'", errno: errno)
  }

  /// Removes variables that would direct `sbatch`, or describe a job or a run around this oprun.
  private static func forgetOtherJobs() {
    for name in inheritedEnvironment().values.keys
    where directsSlurm(variable: name) || OprunVariable(rawValue: name) != nil { unsetenv(name) }
  }

  private static func jobName(_ file: String) -> String {
    String(
      file.prefix(60).map { character in
        character.isASCII && (character.isLetter || character.isNumber || "._-".contains(character))
          ? character : "_"
      })
  }
}

extension Invocation {
  /// The words of options that are given on the command line.
  fileprivate func words(of options: [Option]) -> [String] {
    options.filter(isGiven).flatMap { option -> [String] in
      if option.value == nil { return isOn(option) ? [option.flag] : [] }
      if let count = count(option) { return ["\(option.flag)=\(count)"] }
      if let time = duration(option) { return ["\(option.flag)=\(time / 1_000_000)ms"] }
      let assignments = assignments(option).map { "\(option.flag)=\($0.name)=\($0.value)" }
      return assignments + texts(option).map { "\(option.flag)=\($0)" }
    }
  }
}
