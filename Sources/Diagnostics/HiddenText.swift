// Hides what no displayed text may contain. Strings are cut to what fits, and half a secret would
// no longer be found, so secrets are hidden before a string is cut.

import Synchronization

private let hiding = Mutex<(@Sendable (String) -> String)?>(nil)

/// Applies `hide` from now on to every string that a message or a listing may cut.
package func hideBeforeCutting(_ hide: @escaping @Sendable (String) -> String) {
  hiding.withLock { $0 = hide }
}

/// The string without what must not be shown.
package func withoutHidden(_ text: String) -> String {
  hiding.withLock { $0 }?(text) ?? text
}

/// The bytes without what must not be shown; nil while nothing must be hidden.
func withoutHidden(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
  guard let hide = hiding.withLock({ $0 }) else { return nil }
  return Array(hide(String(decoding: bytes, as: UTF8.self)).utf8)
}
