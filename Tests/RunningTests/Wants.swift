// What a machine asks for, as tests of single decisions compare it.

import Plans
import Scheduling

@testable import Running

extension RunMachine {
  /// What the machine wants since it was asked last, in words.
  mutating func wants() -> [String] {
    takeActions().compactMap { action in
      switch action {
      case .start(let key): "start \(steps[key.operation].id)"
      case .decide(let operation, .start): "ask \(steps[operation].id)"
      case .tell(.settled(let operation, let ending, _)):
        "\(steps[operation].id) \(ending.outcome.word)"
      case .tell, .stop, .kill, .decide, .publish: nil
      }
    }
  }
}
