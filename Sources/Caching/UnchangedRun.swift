// A run of which every step was up to date, with everything that it looked at. If all of that is what it was, the
// next run comes to the same, which is seen without planning it. docs/design-cache.md.

import Glibc

/// Everything but files on which it depends what a run does.
package struct RunKey {
  /// The command, by which the record is found.
  fileprivate let name: CacheDigest
  fileprivate let digest: CacheDigest

  /// The words of the command line, and everything else that planning uses. A record is for one day, because the
  /// cache notes once a day which results are used.
  package init(command: [String], surroundings: [String]) {
    var builder = DigestBuilder()
    for word in command { builder.add(word) }
    name = builder.finish()
    builder = DigestBuilder()
    builder.add(name)
    for word in surroundings { builder.add(word) }
    builder.add(time(nil) / 86_400)
    // Another build of oprun may plan differently.
    var status = stat()
    if stat("/proc/self/exe", &status) == 0 {
      let stamp = FileStamp(status)
      for number in [stamp.size, stamp.changed, stamp.number, stamp.device] { builder.add(number) }
    }
    digest = builder.finish()
  }

  fileprivate var place: String { "\(CacheFolder.runs)/\(name.hexadecimal)" }
}

/// A run of which every step was up to date, as far as the next one shows it.
package struct UnchangedRun {
  /// The name of the run in which each step was looked at by itself; its record stands for those that repeat it.
  package var name = ""
  package var pipeline = ""
  /// The width of the default queue.
  package var width = 0
  /// Its steps, in the order in which they were seen to be up to date.
  package var steps: [UnchangedStep] = []

  package init() {}
}

package struct UnchangedStep {
  package let id: String
  /// The name that people gave it; nil if they gave none.
  package let label: String?
  /// Nil where oprun was started.
  package let directory: String?

  package init(id: String, label: String?, directory: String?) {
    self.id = id
    self.label = label
    self.directory = directory
  }
}

extension CacheFolder {
  /// The folder of these records.
  static let runs = "runs"
  private static let mark = 0x3172_6469_6f70_7201

  /// The last run that was asked for like this, if every file that it looked at is what it was then.
  package func unchangedRun(_ key: RunKey) -> UnchangedRun? {
    guard let bytes = read(key.place) else { return nil }
    return bytes.withUnsafeBytes { bytes in
      var cursor = RecordCursor(bytes)
      guard cursor.number() == Self.mark, cursor.number() == RecordSum.of(cursor.rest),
        cursor.digest() == key.digest, cursor.areSourcesUnchanged(), cursor.areStepsUnchanged()
      else { return nil }
      return cursor.unchangedRun()
    }
  }

  /// Keeps the record of a run; `files` has, for each step, its directory, and its inputs and outputs as the step's
  /// own record lists them. Without it the next run looks at everything, so a failure is of no account.
  func keep(_ run: UnchangedRun, of key: RunKey, _ sources: [SourceFile], files: ByteWriter) {
    var content = ByteWriter()
    content.add(key.digest)
    content.add(sources) { $1.entry.write(to: &$0) }
    content.add(run.steps.count)
    content.append(files.bytes)
    content.add(run.name)
    content.add(run.pipeline)
    content.add(run.width)
    content.add(run.steps) { content, step in
      content.add(step.id)
      content.add(step.label ?? "")
    }
    var head = ByteWriter()
    head.add(Self.mark)
    head.add(content.bytes.withUnsafeBytes { RecordSum.of($0) })
    try? write(head.bytes + content.bytes, to: key.place)
  }
}

extension RecordCursor {
  fileprivate mutating func areSourcesUnchanged() -> Bool {
    guard let count = number(), count >= 0 else { return false }
    for _ in 0..<count {
      guard let file = SourceFile(from: &self), file.isUnchanged else { return false }
    }
    return true
  }

  fileprivate mutating func areStepsUnchanged() -> Bool {
    guard let count = number(), count >= 0 else { return false }
    for _ in 0..<count {
      guard let directory = text() else { return false }
      let path = String(decoding: directory, as: UTF8.self)
      guard areFilesUnchanged(in: path) == true, areFilesUnchanged(in: path) == true else {
        return false
      }
    }
    return true
  }

  fileprivate mutating func unchangedRun() -> UnchangedRun? {
    var reader = ByteReader(Array(rest)[...])
    return try? UnchangedRun(from: &reader)
  }
}

extension UnchangedRun {
  fileprivate init(from reader: inout ByteReader) throws(DamagedBytes) {
    name = try reader.text()
    pipeline = try reader.text()
    width = try reader.number()
    steps = try reader.list { reader throws(DamagedBytes) in
      let id = try reader.text()
      let label = try reader.text()
      return UnchangedStep(id: id, label: label.isEmpty ? nil : label, directory: nil)
    }
  }
}
