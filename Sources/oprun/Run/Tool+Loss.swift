// Reports lost output or events of a run that has gone on nevertheless. It does not know what they
// contained.

import Diagnostics
import Reporting

extension Tool {
  /// Reports that the output of a run, or its events, are not complete; returns the words, or nil.
  func sayLoss(
    _ screen: Screen, _ recorders: RunRecorders
  ) -> (words: String, isOfEvents: Bool)? {
    let output = screen.lossError.map { error in
      sayLost(error)
      return lossWords("standard output", error)
    }
    guard let (place, error) = recorders.loss else { return output.map { ($0, false) } }
    let words = lossWords(place, error)
    if words != output { say(words) }
    return (words, true)
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
