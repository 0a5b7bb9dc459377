// Words of other tools for which there is no key here, and what takes their place.

import Pipelines

extension Explanation {
  static func otherTools(_ word: String) -> [Explanation] {
    KeysElsewhere.advice[word].map {
      [
        Explanation(
          kind: "a key of other tools", sentence: $0.prefix(1).uppercased() + $0.dropFirst() + ".")
      ]
    } ?? []
  }
}
