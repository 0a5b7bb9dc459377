// `oprun doctor`: examines what runs need of this machine, and of a cluster.

import Diagnostics
import Execution
import Glibc
import Plans
import Reporting
import RunFiles
import State

extension Tool {
  func doctor(_ invocation: Invocation) -> Int32 {
    let isOfSlurm = invocation.text(Options.executor) == StepExecutor.slurm.rawValue
    if !isOfSlurm, let word = invocation.rest.first {
      say(
        "\(quoted(word)) is an option for sbatch, but no job is submitted",
        help: "add '--executor slurm'")
      return ExitStatus.usage
    }
    if !invocation.isOn(Options.json) { output.fitToTerminal() }
    var report = DoctorReport(output, isJSON: invocation.isOn(Options.json))
    report.add([stateFinding(statePath(invocation))] + LocalChecks.findings)
    if isOfSlurm { examineSlurm(invocation, &report) }
    report.end()
    return report.hasFailed ? ExitStatus.unhealthy : ExitStatus.success
  }

  /// The finding about whether a run could use the state directory, and how. If there is none, the
  /// directory in which it would be made tells the file system.
  private func stateFinding(_ path: String) -> Finding {
    do throws(StateFailure) {
      let folder = try StateDirectory(path: path).open()
      let place = folder ?? placeOfState(path)
      let refusal =
        folder.map(StateStore.refusal) ?? place.flatMap { StateStore.placeRefusal($0) }
      if let refusal {
        return LocalChecks.unusableState(refusal.message, help: refusal.help)
      }
      let network = place?.fileSystem.network
      let words =
        switch folder.map(StateStore.journal) ?? (network == nil ? .log : .rollback) {
        case .log: "its database has a log (WAL), for runs of this machine"
        case .rollback: "its database has a rollback journal, for runs of several machines"
        }
      return LocalChecks.stateDirectory(path, database: words + (network.map { " (\($0))" } ?? ""))
    } catch {
      return LocalChecks.unusableState(error.message, help: error.help)
    }
  }

  private func placeOfState(_ path: String) -> StateFolder? {
    let place = open(LocalChecks.folder(around: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    return place >= 0 ? StateFolder(owning: place, path: path) : nil
  }

  private func examineSlurm(_ invocation: Invocation, _ report: inout DoctorReport) {
    let checks = SlurmChecks(options: invocation.rest)
    report.add(checks.findings())
    if report.hasFailed { return }
    do throws(StateFailure) {
      let path = stateDirectory(invocation)
      guard let here = try? currentFolder() else { return }
      let whole = path.hasPrefix("/") ? path : "\(here)/\(path)"
      report.add(checks.job(in: try StateDirectory(path: whole).make()))
    } catch {
      say(error.message, help: error.help)
      report.hasFailed = true
    }
  }
}

/// The report, written line by line, because a job may take a while.
private struct DoctorReport {
  private let output: ByteSink
  private let isJSON: Bool
  private var findings: [Finding] = []
  var hasFailed = false

  init(_ output: ByteSink, isJSON: Bool) {
    self.output = output
    self.isJSON = isJSON
  }

  mutating func add(_ more: [Finding]) {
    findings += more
    if more.contains(where: { $0.verdict == .failed }) { hasFailed = true }
    if isJSON { return }
    for finding in more { write(finding) }
    output.flush()
  }

  private func write(_ finding: Finding) {
    let word = finding.verdict.rawValue
    output.write(word + String(repeating: " ", count: 9 - word.utf8.count))
    output.write("\(finding.subject): \(finding.words)\n")
    if let help = finding.help { output.write("         help: \(help)\n") }
  }

  func end() {
    if isJSON { return writeJSON() }
    let failed = findings.count { $0.verdict == .failed }
    let warnings = findings.count { $0.verdict == .warning }
    let words = [(failed, "failed"), (warnings, warnings == 1 ? "warning" : "warnings")]
      .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    output.write(words.isEmpty ? "no problems found\n" : words.joined(separator: ", ") + "\n")
  }

  private func writeJSON() {
    output.write("{")
    output.write(field: "ok", isFirst: true)
    output.write(hasFailed ? "false" : "true")
    output.write(field: "checks")
    output.write(jsonList: findings) { finding in
      output.write("{")
      output.write(field: "subject", isFirst: true)
      output.write(json: finding.subject)
      output.write(field: "verdict")
      output.write(json: finding.verdict.rawValue)
      output.write(field: "words")
      output.write(json: finding.words)
      if let help = finding.help {
        output.write(field: "help")
        output.write(json: help)
      }
      output.write("}")
    }
    output.write("}\n")
  }
}
