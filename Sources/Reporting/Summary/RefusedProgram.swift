// Finds the file that a shell, or a command that starts another one, could not run. Their messages
// are all there is to go by.

import Diagnostics

/// The file that is named in `sh: 1: ./build: Permission denied` or `env: './build': Permission
/// denied`; nil if the line says something else, or names no path.
func refusedProgram(in line: String) -> String? {
  let complaint = ": Permission denied"
  guard line.hasSuffix(complaint) else { return nil }
  let words = line.dropLast(complaint.count)
  let quotes: [Character] = ["'", "‘", "’"]
  let isQuoted = words.last.map(quotes.contains) ?? false
  let name =
    isQuoted
    ? words.dropLast().split(omittingEmptySubsequences: false, whereSeparator: quotes.contains).last
    : words.split(separator: ":").last?.drop { $0 == " " }
  return name.flatMap { $0.contains("/") ? String($0) : nil }
}
