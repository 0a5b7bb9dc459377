// Runs the trials: each in a process of its own, with a limit on its time.

import Foundation

enum Trials {
  private static let limit = 60.0
  private static let titles = [
    ("cycle", "three that wait for each other"),
    ("completion", "the completion block and dependents"),
    ("inversion", "an urgent operation is added to 300 ready ones"),
    ("blocking", "300 that block, in a queue 300 wide"),
    ("starvation", "a busy queue and another"),
    ("recursion", "a chain of a million"),
    ("release", "operations that have ended"),
    ("storm", "a storm of cancels from eight threads"),
  ]

  /// In the process of one trial.
  static func run(_ name: String, _ peer: String) {
    let trials = peer == "Foundation" ? FoundationTrials.all : OperationKitTrials.all
    print(trials[name]?() ?? "no such trial")
  }

  static func runAll() {
    for (name, title) in titles {
      print("\(title):")
      for peer in ["OperationKit", "Foundation"] { print("  \(peer): \(outcome(name, peer))") }
    }
  }

  /// What it said, how long it took, and whether it ended by itself.
  private static func outcome(_ name: String, _ peer: String) -> String {
    let start = Date()
    let end = Child(["--trial", name, peer], limit: limit).end()
    let seconds = (Date().timeIntervalSince(start) * 100).rounded() / 100
    return switch end {
    case .success(let text): "\(text.split(separator: "\n").joined(separator: "; ")) (\(seconds) s)"
    case .failure(let failure): failure.message
    }
  }
}
