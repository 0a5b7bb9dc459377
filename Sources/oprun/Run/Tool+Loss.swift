// Reports lost output or events of a run that has gone on nevertheless. It does not know what they
// contained.

import Diagnostics
import Reporting

extension Tool {
  /// Reports that the output of a run, or its events, are not complete; returns the words, or nil.
  func sayLoss(_ screen: Screen, _ recorders: RunRecorders) -> String? {
    if let error = screen.lossError {
      sayLost(error)
      return lossWords("standard output", error)
    }
    guard let (place, error) = recorders.loss else { return nil }
    let words = lossWords(place, error)
    say(words)
    return words
  }

  private func lossWords(_ place: String, _ error: Int32) -> String {
    "cannot write \(place): \(SystemError.reason(error))"
  }

  /// Reports that a run has gone on without its output.
  func sayLost(_ error: Int32) {
    say(
      lossWords("standard output", error),
      help: "'oprun logs last' shows what the steps printed")
  }
}
