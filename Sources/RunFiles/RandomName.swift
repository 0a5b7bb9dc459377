// Names of files that are made in directories which several machines share.

/// A name that nobody else makes, on no machine and in no container: numbers of processes are the same there.
package func randomName() -> String {
  let digits = String(UInt64.random(in: 0 ... .max), radix: 16)
  return String(repeating: "0", count: 16 - digits.utf8.count) + digits
}
