// The outputs of a pipeline for whoever started the run, in the format of the file that GITHUB_OUTPUT names:
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands#environment-files

package import Diagnostics
import Expressions
package import Plans
import Scheduling

/// Appends the outputs of the pipeline to a file when the run has ended.
package final class OutputsFile: RunObserver {
  private let target: OutputTarget
  private let makeWord: () -> String
  private var outputs: [PublishedOutput] = []
  /// Messages about outputs that are not written.
  package private(set) var warnings: [String] = []

  /// `makeWord` makes a word that nobody can guess. Fails if the file cannot be written, as far as
  /// that can be known before the run.
  package init(
    _ path: String, makeWord: @escaping () -> String = CIOptions.randomWord
  ) throws(SystemError) {
    target = try OutputTarget(path)
    self.makeWord = makeWord
  }

  package func observe(_ event: RunEvent) throws(ObserverFailure) {
    switch event.kind {
    case .published(let operation, let outputs) where operation.rawValue < 0: self.outputs = outputs
    case .finished: try write()
    case .began, .started, .outputGrew, .terminalTaken, .terminalReturned, .ended, .appended,
      .resolved, .placed, .waiting, .ready, .heldUp, .published, .retrying, .orphansFound,
      .outOfReach, .restored,
      .settled, .controlled, .reopened, .stopping, .notice:
      break
    }
  }

  private func write() throws(ObserverFailure) {
    var text = ""
    for output in outputs {
      if output.isMasked {
        warnings.append("the output \(quoted(output.name)) contains a secret, and is not written")
      } else {
        text += lines(of: output)
      }
    }
    do throws(SystemError) {
      try target.append(lines: text)
    } catch {
      throw ObserverFailure(error.message)
    }
  }

  /// The lines of an output. A value of several lines stands between words that it cannot contain.
  private func lines(of output: PublishedOutput) -> String {
    var text = output.json
    if case .string(let value)? = try? JSONReader.value(of: output.json) { text = value }
    guard text.unicodeScalars.contains(where: { $0 == "\n" || $0 == "\r" }) else {
      return "\(output.name)=\(text)\n"
    }
    let word = "end_" + makeWord()
    return "\(output.name)<<\(word)\n\(text)\n\(word)\n"
  }
}
