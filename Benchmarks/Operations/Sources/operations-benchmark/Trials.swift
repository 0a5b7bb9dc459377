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
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["--trial", name, peer]
    process.standardOutput = output
    process.standardError = output
    let start = Date()
    do { try process.run() } catch { return "\(error)" }
    DispatchQueue.global().asyncAfter(deadline: .now() + limit) {
      // A signal that can be blocked may be: Dispatch's threads block all of them.
      if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    let seconds = (Date().timeIntervalSince(start) * 100).rounded() / 100
    if process.terminationReason == .exit {
      return "\(text.split(separator: "\n").joined(separator: "; ")) (\(seconds) s)"
    }
    let signal = process.terminationStatus
    return signal == SIGKILL ? "not done after \(limit) s" : "crashed with signal \(signal)"
  }
}
