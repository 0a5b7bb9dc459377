// The messages about words in place of steps that are not in the pipeline.

import Diagnostics
import Glibc
import Pipelines

extension Tool {
  /// Reports each word; a help that several of them share is shown once.
  func say(_ steps: [UnknownStep], _ invocation: Invocation?) {
    let helps = steps.map { step in invocation.map { help(for: step, $0) } ?? step.help }
    for (index, step) in steps.enumerated() {
      let isRepeated = index + 1 < steps.count && helps[index] == helps[index + 1]
      say(step.message, help: isRepeated ? nil : helps[index])
    }
  }

  private func help(for step: UnknownStep, _ invocation: Invocation) -> String? {
    let word = step.name
    if invocation.command.name == Subcommand.resume.name, !invocation.hasValue(for: Options.until) {
      return didYouMean(step.closest.map { "--until \($0)" })
        ?? "the resumed run has only the steps that were named for it: '--until STEP' names others"
    }
    if invocation.isGiven(Options.affected), invocation.text(Options.affected) == "HEAD",
      invocation.operands.dropFirst().first == word
    {
      return "to name the commit, write \(quoted("\(Options.affected.flag)=\(word)"))"
    }
    return step.instances ?? commandHelp(word, invocation) ?? didYouMean(step.closest)
      ?? fileHelp(word, invocation) ?? otherHelp(word, invocation)
  }

  /// The help for a word that is a command, which comes before the file.
  private func commandHelp(_ word: String, _ invocation: Invocation) -> String? {
    guard let meant = Subcommand.named(word) else { return nil }
    let hasFile = meant.takesFile && !invocation.isFileFound
    let words: String? = call(word, hasFile ? wordForHelp(invocation.operands[0]) : nil)
    return didYouMean(words)
  }

  private func fileHelp(_ word: String, _ invocation: Invocation) -> String? {
    let start = invocation.startDirectory.map { $0 + "/" } ?? ""
    let isFile = access(start + word, F_OK) == 0 && access(start + word + "/.", F_OK) != 0
    guard invocation.isFileFound else {
      return isFile && isPipelineName(word)
        ? "a run has one pipeline: \(quoted("oprun \(word)")) runs that one" : nil
    }
    if let file = invocation.fileBehindSteps({ access(start + $0, F_OK) == 0 }) {
      let first = invocation.operands[1]
      return UsageFailure.fileFirst(file, first, invocation.command)
    }
    if isFile { return "to name the file, write \(quoted("./" + word))" }
    return word.contains("/")
      ? "there is no file \(quoted(word)) either; a step in a group is named GROUP/STEP" : nil
  }

  private func otherHelp(_ word: String, _ invocation: Invocation) -> String? {
    if !invocation.isCommandNamed, let command = UsageFailure.closestCommand(to: word) {
      return commandHelp(command, invocation) ?? didYouMean("oprun \(command)")
    }
    let parts = word.split { $0 == "," || $0 == " " }
    if parts.count > 1 { return "write steps as separate words: \(parts.joined(separator: " "))" }
    if word.first?.isNumber == true, invocation.isOn(Options.resume) {
      return didYouMean("oprun resume \(word)")
    }
    let file = invocation.isFileFound ? nil : wordForHelp(invocation.operands[0]) ?? "FILE"
    return "'\(call(Subcommand.list.name, file))' lists the steps"
  }

  private func call(_ command: String, _ file: String?) -> String {
    "oprun \(command)" + (file.map { " " + $0 } ?? "")
  }
}
