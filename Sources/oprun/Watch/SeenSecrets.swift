// The secrets that a watch has seen. Their files may change meanwhile, and neither the old nor the new values are shown.

import Execution
import Masking

struct SeenSecrets {
  /// The values, the oldest first.
  private var values: [String] = []
  private var masker: Masker?

  /// The size of all values that are kept: the memory of a masker grows with it.
  private static let mostBytes = 128 << 10

  /// Masks these secrets, and those that were seen before, in everything that is written from now on.
  mutating func mask(_ secrets: Secrets, _ tool: Tool) {
    let current = secrets.allValues
    if !current.allSatisfy(values.contains) {
      values = values.filter { !current.contains($0) } + current
      while values.lazy.map(\.utf8.count).reduce(0, +) > Self.mostBytes { values.removeFirst() }
      masker = Masker(secrets: values.map { Array($0.utf8) })
    }
    guard let masker else { return }
    tool.mask(masker)
  }
}
