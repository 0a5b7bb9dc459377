// A row of the table `result`, with the name of its step instead of a number: what the database and the journal of a
// run keep of a step.

import Diagnostics
import Plans
import Scheduling

struct ResultRow: Hashable {
  let step: String
  let place: Int
  let written: Int
  var outcome: Int?
  var cause: String?
  /// In microseconds since the start of the run.
  var started: Int?
  var duration: Int?
  var attempts: Int?
  var status: Int?
  var detail: String?
  var processor: Int?
  var memory: Int?
  var output: Int?
  var resolved: Int?

  /// That of a step that starts.
  init(_ key: StepKey, startedAt time: Nanoseconds) {
    (step, place, written) = (key.name, key.place, key.written)
    started = Int(time / 1000)
  }

  /// That of a step that has ended.
  init(_ key: StepKey, _ settled: Settled) {
    (step, place, written) = (key.name, key.place, key.written)
    outcome = settled.outcome.number
    cause = settled.cause
    started = settled.start.map { Int($0 / 1000) }
    duration = settled.start.map { Int((settled.end - $0) / 1000) }
    resolved = settled.resolved == 0 ? nil : settled.resolved
    guard let last = settled.last else { return }
    if case .attempt(let number) = last.role { attempts = number }
    status = last.end.recordedStatus
    detail = last.end.recordedDetail
    processor = Int(last.end.processorTime / 1000)
    memory = last.end.peakMemory.map { Int($0 >> 10) }
    output = last.end.outputByteCount
  }
}

extension ResultRow {
  /// A row that the database writes later, because the journal has it; nil for what the database must have itself.
  init?(journaling record: Record) {
    switch record {
    case .started(let key, let time): self.init(key, startedAt: time)
    case .settled(let key, let settled):
      // A step that has succeeded never runs again in its run, so its row is final.
      guard settled.outcome.ending == Ending(.succeeded), !settled.isKept else { return nil }
      self.init(key, settled)
    case .began, .counted, .command, .published, .reopened, .changed, .placed, .finished:
      return nil
    }
  }
}

// A row as a line of text: fields between tabs, an empty one for what is not known, and a checksum.
extension ResultRow {
  /// Adds the line to bytes. `generation` tells lines that belong together from older ones behind them.
  func write(to bytes: inout [UInt8], generation: Int) {
    let start = bytes.count
    Self.add(generation, to: &bytes)
    Self.add(place, to: &bytes)
    Self.add(written, to: &bytes)
    Self.add(outcome, to: &bytes)
    Self.add(started, to: &bytes)
    Self.add(duration, to: &bytes)
    Self.add(attempts, to: &bytes)
    Self.add(status, to: &bytes)
    Self.add(processor, to: &bytes)
    Self.add(memory, to: &bytes)
    Self.add(output, to: &bytes)
    Self.add(resolved, to: &bytes)
    for text in [step, cause, detail] {
      if let text { bytes += Self.escaped(text).utf8 }
      bytes.append(Self.tab)
    }
    bytes += Self.checksum(bytes[start...]).utf8
    bytes.append(UInt8(ascii: "\n"))
  }

  private static let tab = UInt8(ascii: "\t")

  private static func add(_ number: Int?, to bytes: inout [UInt8]) {
    if let number { bytes += String(number).utf8 }
    bytes.append(tab)
  }

  /// Nil for what is not a whole line.
  static func reading(line: Substring.UTF8View) -> (row: ResultRow, generation: Int)? {
    let fields = line.split(separator: tab, omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    guard fields.count == 16, checksum(line.dropLast(fields[15].utf8.count)) == fields[15],
      let generation = Int(fields[0]), let place = Int(fields[1]), let written = Int(fields[2])
    else { return nil }
    var row = ResultRow(step: unescaped(fields[12]), place: place, written: written)
    row.outcome = Int(fields[3])
    row.started = Int(fields[4])
    row.duration = Int(fields[5])
    row.attempts = Int(fields[6])
    row.status = Int(fields[7])
    row.processor = Int(fields[8])
    row.memory = Int(fields[9])
    row.output = Int(fields[10])
    row.resolved = Int(fields[11])
    row.cause = fields[13].isEmpty ? nil : unescaped(fields[13])
    row.detail = fields[14].isEmpty ? nil : unescaped(fields[14])
    return (row, generation)
  }

  private init(step: String, place: Int, written: Int) {
    self.step = step
    self.place = place
    self.written = written
  }

  private static func escaped(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 < 0x20 || $0 == UInt8(ascii: "%") }) else { return text }
    return text.unicodeScalars.map { scalar in
      scalar.value < 0x20 || scalar == "%" ? "%\(scalar.value);" : String(scalar)
    }.joined()
  }

  private static func unescaped(_ text: String) -> String {
    let parts = text.split(separator: "%", omittingEmptySubsequences: false)
    return parts.dropFirst().reduce(String(parts[0])) { text, part in
      let pieces = part.split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false)
      guard pieces.count == 2, let scalar = UInt32(pieces[0]).flatMap(Unicode.Scalar.init) else {
        return text
      }
      return text + String(Character(scalar)) + pieces[1]
    }
  }

  /// FNV-1a, in hexadecimal: a line that a kill has cut, or another has half overwritten, is told by it.
  private static func checksum(_ bytes: some Sequence<UInt8>) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return String(hash, radix: 16)
  }
}
