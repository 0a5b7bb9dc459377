// A request of a client to a run in progress: one line of JSON, which the run answers with lines of
// JSON. docs/control.md.

import Diagnostics
import Expressions
package import Scheduling

/// A request as it is sent, before the run looks up its queue or step.
package struct ControlRequest: Hashable, Sendable {
  package enum Verb: String, CaseIterable, Sendable {
    case status, pause
    case proceed = "continue"
    case cancel, retry, set
  }

  package var verb: Verb
  /// The name of a queue.
  package var queue: String?
  /// The id of a step, of an instance or of a group.
  package var step: String?
  package var maxParallel: Int?
  package var priority: Int?
  /// True if every step is wanted, not only those that run or have failed.
  package var isWhole = false
  /// True if changes are wanted until the end of the run.
  package var follows = false

  /// The version of the requests and of the answers, in the first line of both.
  package static let version = 1
  /// The largest limit: all numbers up to it are exact in JSON.
  package static let mostParallel = Int(largestExactInteger)
  /// The size in bytes up to which a request is read.
  package static let longestLine = 64 << 10

  package init(_ verb: Verb) { self.verb = verb }
}

/// Why a request cannot be used, in words.
package struct ControlFailure: Error, Hashable, Sendable {
  package let message: String
  package let help: String?

  package init(_ message: String, help: String? = nil) {
    self.message = message
    self.help = help
  }
}

extension ControlRequest {
  /// The request as a line, with its end.
  package var line: String {
    var text = "{\"protocol\":\(Self.version),\"request\":\"\(verb.rawValue)\""
    if let queue { text += ",\"queue\":" + jsonString(queue) }
    if let step { text += ",\"step\":" + jsonString(step) }
    if let maxParallel { text += ",\"max_parallel\":\(maxParallel)" }
    if let priority { text += ",\"priority\":\(priority)" }
    if isWhole { text += ",\"all\":true" }
    if follows { text += ",\"follow\":true" }
    return text + "}\n"
  }

  /// Reads a line without its end. `program` is the version of the oprun that reads it.
  package init(
    line: ArraySlice<UInt8>, program: String
  ) throws(ControlFailure) {
    let fields = try RequestFields(line)
    guard let version = try fields.number("protocol") else {
      throw ControlFailure("the request has no version: 'protocol' is missing")
    }
    guard version == Self.version else {
      throw ControlFailure(
        "the run was started by oprun \(program), which understands version \(Self.version) of "
          + "requests, not version \(version)", help: "use the oprun that started it")
    }
    guard let verb = try fields.text("request").flatMap(Verb.init(rawValue:)) else {
      let words = Verb.allCases.map { "'\($0.rawValue)'" }
      throw ControlFailure("'request' wants one of \(words.joined(separator: ", "))")
    }
    self.init(verb)
    queue = try fields.text("queue")
    step = try fields.text("step")
    maxParallel = try fields.number("max_parallel")
    priority = try fields.number("priority")
    isWhole = try fields.flag("all")
    follows = try fields.flag("follow")
    if let maxParallel, !(0...Self.mostParallel).contains(maxParallel) {
      throw ControlFailure(
        "'max_parallel' wants a number from 0 to \(Self.mostParallel), found \(maxParallel)")
    }
    if let priority, !(-1000...1000).contains(priority) {
      throw ControlFailure("'priority' wants a number from -1000 to 1000, found \(priority)")
    }
  }
}

/// The fields of a request. A field of the wrong type is refused: ignoring it would turn a request about one step
/// into one about the whole run.
private struct RequestFields {
  private let fields: ValueMap

  init(_ line: ArraySlice<UInt8>) throws(ControlFailure) {
    let value: Value
    do throws(JSONFailure) {
      value = try JSONReader.value(of: line)
    } catch {
      throw ControlFailure(
        "the request is not JSON: \(error.reason) at byte \(error.offset + 1)")
    }
    guard case .map(let fields) = value else {
      throw ControlFailure("the request must be a JSON object, found \(value.type.words)")
    }
    self.fields = fields
  }

  func text(_ name: String) throws(ControlFailure) -> String? {
    switch fields[name] {
    case nil: return nil
    case .string(let text): return text
    case let other?: throw wrong(name, "a string", other)
    }
  }

  func number(_ name: String) throws(ControlFailure) -> Int? {
    guard let value = fields[name] else { return nil }
    guard case .number(let number) = value, let whole = Int(exactly: number) else {
      throw wrong(name, "a whole number", value)
    }
    return whole
  }

  func flag(_ name: String) throws(ControlFailure) -> Bool {
    switch fields[name] {
    case nil: return false
    case .bool(let isTrue): return isTrue
    case let other?: throw wrong(name, "true or false", other)
    }
  }

  private func wrong(_ name: String, _ wanted: String, _ found: Value) -> ControlFailure {
    let words: String
    switch found {
    case .number(let number): words = numberText(number)
    case .null, .bool, .string, .list, .map: words = found.type.words
    }
    return ControlFailure("'\(name)' wants \(wanted), found \(words)")
  }
}

/// One line of a request or of an answer.
package struct ControlLine {
  private let fields: ValueMap

  /// Reads a line; nil if it is not a JSON object.
  package init?(_ line: ArraySlice<UInt8>) {
    guard case .map(let fields)? = try? JSONReader.value(of: line) else { return nil }
    self.fields = fields
  }

  private init(_ fields: ValueMap) { self.fields = fields }

  package func has(_ name: String) -> Bool { fields[name] != nil }

  package func text(_ name: String) -> String? {
    if case .string(let text)? = fields[name] { text } else { nil }
  }

  /// A whole number, such as a size or a count; nil if it is so large that two of these could not be added.
  package func number(_ name: String) -> Int? {
    whole(name).flatMap { $0.magnitude <= 1 << 60 ? $0 : nil }
  }

  /// The status of a command, or the id of a process; nil if it is something else.
  package func int32(_ name: String) -> Int32? { whole(name).flatMap { Int32(exactly: $0) } }

  /// A time, or a length of time, that is sent in nanoseconds; nil if it is none.
  package func nanoseconds(_ name: String) -> Nanoseconds? {
    whole(name).flatMap { (0...Int(lastMoment)).contains($0) ? Nanoseconds($0) : nil }
  }

  /// A time, or a length of time, that is sent in milliseconds; nil if it is none.
  package func milliseconds(_ name: String) -> Nanoseconds? {
    whole(name).flatMap {
      (0...Int(lastMoment / 1_000_000)).contains($0) ? Nanoseconds($0) * 1_000_000 : nil
    }
  }

  private func whole(_ name: String) -> Int? {
    if case .number(let number)? = fields[name] { Int(exactly: number) } else { nil }
  }

  package func isTrue(_ name: String) -> Bool { fields[name] == .bool(true) }

  package func lines(_ name: String) -> [ControlLine] {
    guard case .list(let items)? = fields[name] else { return [] }
    return items.compactMap { if case .map(let map) = $0 { ControlLine(map) } else { nil } }
  }

  /// A list of whole numbers.
  package func numbers(_ name: String) -> [Int] {
    guard case .list(let items)? = fields[name] else { return [] }
    return items.compactMap {
      if case .number(let number) = $0 { Int(exactly: number) } else { nil }
    }
  }
}
