// A run of which every step was up to date, or nearly so, with everything that it looked at. If all of that is what it
// was, the next run comes to the same, which is seen without planning it. docs/design-cache.md.

import Glibc

/// Everything but files on which it depends what a run does.
package struct RunKey {
  /// The command, by which the records of its runs are found.
  private let name: CacheDigest
  /// The number of the record among several: terminals and editors have variables of their own, and each keeps its
  /// record.
  private let number: UInt64
  fileprivate let digest: CacheDigest
  /// How many records of a command line there may be, even if a variable is never the same.
  private static let recordCount: UInt64 = 16

  /// The words of the command line, the variables, and everything else that planning uses. A record is for one day,
  /// because the cache notes once a day which results are used.
  package init(command: [String], variables: [String: String], surroundings: [String]) {
    var builder = DigestBuilder()
    for word in command { builder.add(word) }
    name = builder.finish()
    builder = DigestBuilder()
    for (name, value) in variables.sorted(by: { $0.key < $1.key }) {
      builder.add(name)
      builder.add(value)
    }
    let environment = builder.finish()
    number = environment.words.0 % Self.recordCount
    builder = DigestBuilder()
    builder.add(name)
    builder.add(environment)
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

  /// The path of the record in the folder of the cache.
  var place: String { "\(CacheFolder.runs)/\(name.hexadecimal)-\(number)" }
}

/// A run of which most steps were up to date, as far as the next one shows it.
package struct UnchangedRun {
  /// The name of the run in which each step was looked at by itself; its record stands for those that repeat it.
  package var name = ""
  /// The steps that ran in it, by their places; they are not written down, but the next run looks at them in any case.
  package var ran: Set<Int> = []
  /// True if all steps were up to date in that run.
  package var isPure = true
  package var pipeline = ""
  /// The width of the default queue.
  package var width = 0
  /// Its steps, in the order in which they were seen to be up to date.
  package var steps: [UnchangedStep] = []
  /// The short forms of their plans; empty if none of them can be planned without the others.
  package var outlines: [StepOutline] = []
  /// The files that it was planned from.
  fileprivate var sources: [SourceFile] = []

  package init() {}

  /// Whether the files that it was planned from are what they were.
  package var areSourcesUnchanged: Bool { sources.allSatisfy(\.isUnchanged) }
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

/// A comparison with the last run that was asked for in the same way.
package enum RunComparison {
  /// Every file is what it was then.
  case unchanged(UnchangedRun)
  /// Only these steps need to be looked at, by their places in the record.
  case changed(UnchangedRun, part: [Int])
}

extension CacheFolder {
  /// The folder of these records.
  static let runs = "runs"
  private static let mark = 0x3172_6469_6f70_7202

  /// Compares the files that the last run looked at with what they are now; nil if all steps must be looked at.
  package func compare(_ key: RunKey) -> RunComparison? {
    guard let bytes = read(key.place) else { return nil }
    return bytes.withUnsafeBytes { buffer in
      var cursor = RecordCursor(buffer)
      guard cursor.number() == Self.mark, cursor.number() == RecordSum.of(cursor.rest),
        cursor.digest() == key.digest, let sources = cursor.sources(),
        sources.allSatisfy(\.isUnchanged), let outlines = cursor.text(),
        let changed = cursor.changedSteps(outlines),
        var run = try? UnchangedRun(from: bytes.suffix(cursor.rest.count))
      else { return nil }
      run.sources = sources
      run.outlines = changed.outlines
      return changed.steps.isEmpty ? .unchanged(run) : .changed(run, part: changed.steps)
    }
  }

  /// Removes all records of runs: a run with other words, such as `--refresh`, has learnt that a result is not to be trusted.
  func dropRuns() {
    for name in names(in: Self.runs) { unlinkat(descriptor, "\(Self.runs)/\(name)", 0) }
  }

  /// Keeps the record of a run; `files` has, for each step, its directory, and its inputs and outputs as the step's
  /// own record lists them. Without it the next run looks at everything, so a failure is of no account.
  func keep(_ run: UnchangedRun, of key: RunKey, _ sources: [SourceFile], files: ByteWriter) {
    var content = ByteWriter()
    content.add(key.digest)
    content.add(sources) { $1.entry.write(to: &$0) }
    var outlines = ByteWriter()
    outlines.add(run.outlines) { $1.write(to: &$0) }
    content.add(data: outlines.bytes)
    content.add(run.steps.count)
    content.append(files.bytes)
    content.add(run.name)
    content.add(run.pipeline)
    content.add(run.width)
    content.add(run.isPure)
    content.add(run.steps) { content, step in
      content.add(step.id)
      content.add(step.label ?? "")
      content.add(step.directory ?? "")
    }
    var head = ByteWriter()
    head.add(Self.mark)
    head.add(content.bytes.withUnsafeBytes { RecordSum.of($0) })
    try? write(head.bytes + content.bytes, to: key.place)
  }
}

extension RecordCursor {
  fileprivate mutating func sources() -> [SourceFile]? {
    guard let count = number(), count >= 0 else { return nil }
    var sources: [SourceFile] = []
    for _ in 0..<count {
      guard let file = SourceFile(from: &self) else { return nil }
      sources.append(file)
    }
    return sources
  }

  /// The steps that must be looked at; none if every file is what it was. Nil if that may be all of them. The
  /// outlines are read only if they are needed.
  fileprivate mutating func changedSteps(
    _ bytes: UnsafeRawBufferPointer
  ) -> (steps: [Int], outlines: [StepOutline])? {
    guard let count = number(), count >= 0 else { return nil }
    var part: ChangedPart?
    var outlines: [StepOutline] = []
    for place in 0..<count {
      guard let directory = text(),
        let isUnchanged = areListsUnchanged(in: String(decoding: directory, as: UTF8.self))
      else { return nil }
      if isUnchanged { continue }
      if part == nil {
        outlines = StepOutline.all(in: bytes) ?? []
        part = ChangedPart(outlines.map(\.dependencies))
      }
      guard part?.add(place) == true else { return nil }
    }
    guard let part else { return ([], []) }
    return part.steps.map { ($0, outlines) }
  }

  /// Passes over the inputs and the outputs of a step; false if one of them is not what it was, nil if that cannot be
  /// told.
  private mutating func areListsUnchanged(in directory: String) -> Bool? {
    var areUnchanged = true
    for _ in 0..<2 {
      let start = self
      guard let isUnchanged = areFilesUnchanged(in: directory) else { return nil }
      if isUnchanged { continue }
      areUnchanged = false
      self = start
      guard skipFiles() else { return nil }
    }
    return areUnchanged
  }
}

extension StepOutline {
  /// Nil if the bytes are damaged.
  fileprivate static func all(in bytes: UnsafeRawBufferPointer) -> [StepOutline]? {
    var reader = ByteReader(Array(bytes)[...])
    return try? reader.list { reader throws(ByteReadFailure) in try StepOutline(from: &reader) }
  }
}

extension UnchangedRun {
  fileprivate init(from bytes: ArraySlice<UInt8>) throws(ByteReadFailure) {
    var reader = ByteReader(bytes)
    name = try reader.text()
    pipeline = try reader.text()
    width = try reader.number()
    isPure = try reader.flag()
    steps = try reader.list { reader throws(ByteReadFailure) in
      let id = try reader.text()
      let label = try reader.text()
      let directory = try reader.text()
      return UnchangedStep(
        id: id, label: label.isEmpty ? nil : label, directory: directory.isEmpty ? nil : directory)
    }
  }
}
