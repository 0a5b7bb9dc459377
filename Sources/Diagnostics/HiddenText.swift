// What no text that is shown may hold. Texts are cut to what fits, and half a secret would no longer
// be found: so secrets are hidden before a text is cut.

import Synchronization

private let hiding = Mutex<(@Sendable (String) -> String)?>(nil)

/// From now on `hide` is applied to every text that a message or a listing may cut.
package func hideBeforeCutting(_ hide: @escaping @Sendable (String) -> String) {
  hiding.withLock { $0 = hide }
}

/// The text without what must not be shown.
package func withoutHidden(_ text: String) -> String {
  hiding.withLock { $0 }?(text) ?? text
}

/// Nil while nothing must be hidden.
func withoutHidden(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
  guard let hide = hiding.withLock({ $0 }) else { return nil }
  return Array(hide(String(decoding: bytes, as: UTF8.self)).utf8)
}
