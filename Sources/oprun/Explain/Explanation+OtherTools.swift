// Words of other tools for which there is no key here, and their replacements.

import Pipelines

extension Explanation {
  static func otherTools(_ word: String) -> [Explanation] {
    KeysElsewhere.advice[word].map { [Explanation(kind: "a key of other tools", advice: $0)] }
      ?? KeysElsewhere.words[word].map { [Explanation(kind: "a word of other tools", advice: $0)] }
      ?? []
  }

  private init(kind: String, advice: String) {
    self.init(kind: kind, sentence: advice.prefix(1).uppercased() + advice.dropFirst() + ".")
  }
}
