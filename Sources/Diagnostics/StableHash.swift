// Hashes that are the same in every run and on every machine, for names that people and other
// programs keep.

/// The 64-bit FNV-1a hash of a text.
package func stableHash(of text: String) -> UInt64 {
  text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
}
