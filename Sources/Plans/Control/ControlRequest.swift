// What a client asks of a run in progress: one line of JSON, which the run answers with lines of JSON.
// docs/control.md.

import Diagnostics
import Expressions

/// A request as it is sent, before the run looks up which queue or step is meant.
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
  /// Every step is wanted, not only those that run or have failed.
  package var isWhole = false
  /// What changes is wanted until the end of the run.
  package var follows = false

  /// The version of the requests and of the answers, in the first line of both.
  package static let version = 1
  /// A longer request is not read.
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
  /// The line, with its end.
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
    guard let fields = ControlLine(line) else {
      throw ControlFailure("the request is not a JSON object")
    }
    guard let version = fields.number("protocol") else {
      throw ControlFailure("the request does not say its version: 'protocol'")
    }
    guard version == Self.version else {
      throw ControlFailure(
        "the run is one of oprun \(program), which understands requests of version "
          + "\(Self.version), found \(version)", help: "use the oprun that started it")
    }
    guard let verb = fields.text("request").flatMap(Verb.init(rawValue:)) else {
      let words = Verb.allCases.map { "'\($0.rawValue)'" }
      throw ControlFailure("'request' wants one of \(words.joined(separator: ", "))")
    }
    self.init(verb)
    queue = fields.text("queue")
    step = fields.text("step")
    maxParallel = fields.number("max_parallel")
    priority = fields.number("priority")
    isWhole = fields.isTrue("all")
    follows = fields.isTrue("follow")
    if let maxParallel, maxParallel < 0 {
      throw ControlFailure("'max_parallel' wants a number of at least 0, found \(maxParallel)")
    }
    if let priority, !(-1000...1000).contains(priority) {
      throw ControlFailure("'priority' wants a number from -1000 to 1000, found \(priority)")
    }
  }
}

/// One line of a request or of an answer.
package struct ControlLine {
  private let fields: ValueMap

  /// Nil if it is not a JSON object.
  package init?(_ line: ArraySlice<UInt8>) {
    guard case .map(let fields)? = try? JSONReader.value(of: line) else { return nil }
    self.fields = fields
  }

  private init(_ fields: ValueMap) { self.fields = fields }

  package func has(_ name: String) -> Bool { fields[name] != nil }

  package func text(_ name: String) -> String? {
    if case .string(let text)? = fields[name] { text } else { nil }
  }

  /// A whole number.
  package func number(_ name: String) -> Int? {
    if case .number(let number)? = fields[name] { Int(exactly: number) } else { nil }
  }

  package func isTrue(_ name: String) -> Bool { fields[name] == .bool(true) }

  package func lines(_ name: String) -> [ControlLine] {
    guard case .list(let items)? = fields[name] else { return [] }
    return items.compactMap { if case .map(let map) = $0 { ControlLine(map) } else { nil } }
  }

  /// Whole numbers.
  package func numbers(_ name: String) -> [Int] {
    guard case .list(let items)? = fields[name] else { return [] }
    return items.compactMap {
      if case .number(let number) = $0 { Int(exactly: number) } else { nil }
    }
  }

  package func line(_ name: String) -> ControlLine? {
    if case .map(let map)? = fields[name] { ControlLine(map) } else { nil }
  }
}
