// Names of files that are made in directories which several machines share.

/// A name that no other process makes, on any machine or in any container; ids of processes are not
/// unique there.
package func randomName() -> String {
  let digits = String(UInt64.random(in: 0 ... .max), radix: 16)
  return String(repeating: "0", count: 16 - digits.utf8.count) + digits
}
