// Hides text that must not be displayed. Strings are cut to what fits, and half a secret would no
// longer be found, so secrets are hidden before a string is cut.

import Synchronization

private let hiding = Mutex<(@Sendable (String) -> String)?>(nil)

/// Applies `hide` from now on to every string that a message or a listing may cut.
package func hideBeforeCutting(_ hide: @escaping @Sendable (String) -> String) {
  hiding.withLock { $0 = hide }
}

/// The string with its hidden parts replaced.
package func withoutHidden(_ text: String) -> String {
  hiding.withLock { $0 }?(text) ?? text
}

/// The bytes with their hidden parts replaced; nil if nothing has to be hidden.
func withoutHidden(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
  guard let hide = hiding.withLock({ $0 }) else { return nil }
  return Array(hide(String(decoding: bytes, as: UTF8.self)).utf8)
}
