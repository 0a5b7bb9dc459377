// The tasks that a run gives to Slurm, written to the run's directory before that: a resumed run
// finds the jobs again. Lines are only appended; one that is cut off is ignored.

import Diagnostics
import Glibc
import RunFiles

/// One task in a journal.
struct JournalEntry: Hashable {
  /// The directory of the run to which the task's files belong, if that is an earlier one, and the number
  /// that the task has there.
  struct Origin: Hashable {
    let folder: String
    let run: String
    let number: Int
  }

  let step: String
  /// The digest of what the step runs, which changes when that is edited.
  let digest: String
  let logName: String
  let outputsName: String
  var origin: Origin?
  var job: String?
  /// True if its job was asked to end: its result is of no use to another run.
  var wasStopped = false
  var hasEnded = false

  /// Stands for the id of a step that contains a secret. The number in a name that hides a secret
  /// differs between runs.
  static func hidden(_ step: String) -> String { "#\(shortDigest(of: step))" }
}

final class SlurmJournal {
  private let descriptor: Int32
  private var isDirty = false
  /// True if the last line is not whole: a disk was full, or the process that wrote it died.
  private var isTorn = false

  static let name = "journal"

  /// Opens the journal in the folder of node files, or makes it.
  init(in folder: String) throws(SystemError) {
    let path = "\(folder)/\(Self.name)"
    descriptor = open(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .last("cannot write \(quoted(path))") }
    var status = stat()
    var last: UInt8 = 0
    if fstat(descriptor, &status) == 0, status.st_size > 0,
      pread(descriptor, &last, 1, status.st_size - 1) == 1
    {
      isTorn = last != UInt8(ascii: "\n")
    }
  }

  deinit { close(descriptor) }

  func add(_ entry: JournalEntry, number: Int) throws(SystemError) {
    var words = [
      "task", String(number), entry.step, entry.digest, entry.logName, entry.outputsName,
    ]
    if let origin = entry.origin { words += [origin.folder, origin.run, String(origin.number)] }
    try write(words)
  }

  func note(job: String, of number: Int) throws(SystemError) {
    try write(["job", String(number), job])
  }

  func noteStop(of number: Int) throws(SystemError) { try write(["stop", String(number)]) }

  func noteEnd(of number: Int) throws(SystemError) { try write(["end", String(number)]) }

  /// Returns when everything is on disk.
  func flush() throws(SystemError) {
    guard isDirty else { return }
    isDirty = false
    guard fdatasync(descriptor) == 0 || errno == EINVAL else {
      throw .last("cannot write the journal of jobs")
    }
  }

  private func write(_ words: [String]) throws(SystemError) {
    let line = (isTorn ? Self.torn : "") + words.map(escaped).joined(separator: "\t") + "\n"
    guard writeFully(Array(line.utf8), to: descriptor) else {
      isTorn = true
      throw .last("cannot write the journal of jobs")
    }
    isTorn = false
    isDirty = true
  }

  /// Ends a line that was cut off, and marks it as invalid: `end 12`, cut off from the end of task
  /// 123, would otherwise count for task 12. No other line ends like this.
  private static let torn = "%\n"

  /// The tasks in the journal of a run, by number; empty if there is none.
  static func entries(in folder: String) throws(SystemError) -> [Int: JournalEntry] {
    var entries: [Int: JournalEntry] = [:]
    for line in try text(of: "\(folder)/\(name)").split(separator: "\n") where line.last != "%" {
      let words = line.split(separator: "\t", omittingEmptySubsequences: false).map(unescaped)
      guard words.count >= 2, let number = Int(words[1]) else { continue }
      switch (words[0], words.count) {
      case ("task", 6), ("task", 9):
        var entry = JournalEntry(
          step: words[2], digest: words[3], logName: words[4], outputsName: words[5])
        if words.count == 9, let origin = Int(words[8]) {
          entry.origin = JournalEntry.Origin(folder: words[6], run: words[7], number: origin)
        }
        entries[number] = entry
      case ("job", 3): entries[number]?.job = words[2]
      case ("stop", 2): entries[number]?.wasStopped = true
      case ("end", 2): entries[number]?.hasEnded = true
      default: continue
      }
    }
    return entries
  }

  /// The whole lines of a file. Throws if it cannot be read, which is not taken for its end.
  private static func text(of path: String) throws(SystemError) -> String {
    let action = "cannot read \(quoted(path))"
    let number = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard number >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return "" }
      throw .last(action)
    }
    let file = Descriptor(owning: number)
    guard let bytes = readToEnd(file.number) else { throw .last(action) }
    let end = bytes.lastIndex(of: UInt8(ascii: "\n")) ?? 0
    return String(decoding: bytes[..<end], as: UTF8.self)
  }
}

private func escaped(_ text: String) -> String {
  var result = ""
  for scalar in text.unicodeScalars {
    switch scalar {
    case "\t": result += "%09"
    case "\n": result += "%0A"
    case "%": result += "%25"
    default: result.unicodeScalars.append(scalar)
    }
  }
  return result
}

private func unescaped(_ text: Substring) -> String {
  guard text.contains("%") else { return String(text) }
  return text.replacingText("%09", with: "\t").replacingText("%0A", with: "\n")
    .replacingText("%25", with: "%")
}

/// The first 16 hexadecimal digits of a text's SHA-256.
func shortDigest(of text: String) -> String {
  hexadecimal(
    sha256(of: Array(text.utf8)).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }, digits: 16)
}
