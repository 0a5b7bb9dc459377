// A row of the table `result`, with the name of its step instead of a number: what the database and the journal of a
// run keep of a step.

import Diagnostics
import Expressions
import Plans
import Scheduling

struct ResultRow: Hashable {
  /// The columns after the run and the step, but for the origin, in the order in which `bind` sets them.
  static let columns = [
    "place", "outcome", "cause", "started", "duration", "attempts", "status", "detail", "processor",
    "memory", "output", "written", "resolved",
  ]
  /// The same columns as a part of a statement.
  static let columnList = list(of: columns)

  /// Words with commas between them. `joined(separator:)` is one function for all types, which looks for conformances
  /// in the whole program: that takes as long as writing a row.
  static func list(of words: [String]) -> String {
    var text = ""
    for word in words { text += text.isEmpty ? word : ", \(word)" }
    return text
  }

  let step: String
  let place: Int
  let written: Int
  var outcome: Int?
  var cause: String?
  /// The start of the step, in microseconds since the start of the run.
  var started: Int?
  /// The duration; if it never started, the time from the start of the run until it had its outcome.
  var duration: Int?
  var attempts: Int?
  var status: Int?
  var detail: String?
  var processor: Int?
  var memory: Int?
  var output: Int?
  var resolved: Int?

  /// Creates the row of a step that starts.
  init(_ key: StepIdentity, startedAt time: Nanoseconds) {
    (step, place, written) = (key.name, key.place, key.written)
    started = Int(time / 1000)
  }

  /// Creates the row of a step that has ended.
  init(_ key: StepIdentity, _ settled: Settled) {
    (step, place, written) = (key.name, key.place, key.written)
    outcome = settled.outcome.number
    cause = settled.cause
    started = settled.start.map { Int($0 / 1000) }
    duration = Int((settled.end - (settled.start ?? 0)) / 1000)
    resolved = settled.resolved == 0 ? nil : settled.resolved
    guard let last = settled.last else { return }
    if case .attempt(let number) = last.role { attempts = number }
    let end = RecordedEnd(last.end)
    status = end.status
    detail = end.detail
    processor = end.processor
    memory = end.memory
    output = end.output
  }
}

extension ResultRow {
  /// A row that the database writes later, because the journal has it; nil for what the database must have itself.
  init?(journaling record: Record) {
    switch record {
    case .started(let key, let time): self.init(key, startedAt: time)
    case .settled(let key, let settled):
      // A step that has succeeded never runs again in its run, so its row is final.
      guard settled.outcome.ending == Ending(.succeeded), settled.takenOver == .forgotten else {
        return nil
      }
      self.init(key, settled)
    case .began, .counted, .running, .command, .published, .forgotten, .reopened, .changed,
      .placed, .finished, .spoiled:
      return nil
    }
  }
}

// A row as a line of text: fields between tabs, an empty one for what is not known, and a checksum.
extension ResultRow {
  /// Adds the line to bytes. `generation` tells lines that belong together from older ones behind them. It is written
  /// twice for each step of a run, so nothing is made for it but its bytes.
  func write(to bytes: inout [UInt8], generation: Int) {
    let start = bytes.count
    func add(_ number: Int?) {
      if let number { Self.add(number, to: &bytes) }
      bytes.append(Self.tab)
    }
    add(generation)
    add(place)
    add(written)
    add(outcome)
    add(started)
    add(duration)
    add(attempts)
    add(status)
    add(processor)
    add(memory)
    add(output)
    add(resolved)
    Self.add(step, to: &bytes)
    Self.add(cause, to: &bytes)
    Self.add(detail, to: &bytes)
    Self.add(bytes[start...].withUnsafeBufferPointer(Self.checksum), radix: 16, to: &bytes)
    bytes.append(UInt8(ascii: "\n"))
  }

  /// Always inlined, because a division by a number that the compiler knows takes a tenth of the time.
  @inline(__always)
  private static func add(_ number: Int, radix: UInt = 10, to bytes: inout [UInt8]) {
    // 64 bits have at most 20 digits.
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 21) { text in
      var rest = number.magnitude
      var start = text.count
      repeat {
        let digit = UInt8(truncatingIfNeeded: rest % radix)
        rest /= radix
        start -= 1
        text[start] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit
      } while rest > 0
      if number < 0 {
        start -= 1
        text[start] = UInt8(ascii: "-")
      }
      bytes += UnsafeMutableBufferPointer(rebasing: text[start...])
    }
  }

  /// Adds a text as JSON, and a tab.
  private static func add(_ text: String?, to bytes: inout [UInt8]) {
    defer { bytes.append(tab) }
    guard var text else { return }
    let isPlain = text.withUTF8 { characters in
      let isPlain = characters.allSatisfy {
        $0 >= 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
      }
      guard isPlain else { return false }
      bytes.append(UInt8(ascii: "\""))
      bytes += characters
      bytes.append(UInt8(ascii: "\""))
      return true
    }
    if !isPlain { bytes += Value.string(text).json.utf8 }
  }

  private static let tab = UInt8(ascii: "\t")

  /// Nil for what is not a whole line.
  static func reading(line: Substring.UTF8View) -> (row: ResultRow, generation: Int)? {
    let fields = line.split(separator: tab, omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    guard fields.count == 16,
      let sum = Int(fields[15], radix: 16),
      Array(line.dropLast(fields[15].utf8.count)).withUnsafeBufferPointer(checksum) == sum,
      let step = text(fields[12]), let generation = Int(fields[0]), let place = Int(fields[1]),
      let written = Int(fields[2])
    else { return nil }
    var row = ResultRow(step: step, place: place, written: written)
    row.outcome = Int(fields[3])
    row.started = Int(fields[4])
    row.duration = Int(fields[5])
    row.attempts = Int(fields[6])
    row.status = Int(fields[7])
    row.processor = Int(fields[8])
    row.memory = Int(fields[9])
    row.output = Int(fields[10])
    row.resolved = Int(fields[11])
    row.cause = text(fields[13])
    row.detail = text(fields[14])
    return (row, generation)
  }

  private init(step: String, place: Int, written: Int) {
    self.step = step
    self.place = place
    self.written = written
  }

  /// A string that is written as JSON, which holds no tab and no line break; nil for an empty field.
  private static func text(_ field: String) -> String? {
    guard case .string(let text)? = try? JSONReader.value(of: field) else { return nil }
    return text
  }

  /// A checksum, which reveals a line that was cut by a kill, or half overwritten by another one.
  private static func checksum(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
    var digest = FingerprintDigest()
    digest.add(bytes)
    return digest.finish()
  }
}
