// The trace to which a run belongs. The format is that of W3C Trace Context
// (https://www.w3.org/TR/trace-context/), the variables are those of OpenTelemetry
// (https://opentelemetry.io/docs/specs/otel/context/env-carriers/).

import Diagnostics
package import Scheduling

/// The position in a trace that a program gets in `TRACEPARENT`.
package struct TraceParent: Hashable, Sendable {
  package let traceID: String
  package let spanID: String
  /// The flags: whether the trace is sampled, and whether its id is random.
  package let flags: UInt8

  private static let knownFlags: UInt8 = 3

  /// Reads a value of `TRACEPARENT`; nil for a text that must be ignored.
  package init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count >= 55, [2, 35, 52].allSatisfy({ bytes[$0] == UInt8(ascii: "-") }) else {
      return nil
    }
    // Later versions may append fields.
    let (version, ending) = (bytes[..<2], bytes[55...].first)
    guard version.elementsEqual("00".utf8) ? ending == nil : ending ?? 0x2D == 0x2D,
      !version.elementsEqual("ff".utf8), Self.isHexadecimal(version),
      Self.isID(bytes[3..<35]), Self.isID(bytes[36..<52]), Self.isHexadecimal(bytes[53..<55]),
      let flags = UInt8(String(decoding: bytes[53..<55], as: UTF8.self), radix: 16)
    else { return nil }
    traceID = String(decoding: bytes[3..<35], as: UTF8.self)
    spanID = String(decoding: bytes[36..<52], as: UTF8.self)
    self.flags = flags & Self.knownFlags
  }

  private static func isHexadecimal(_ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }

  /// True for an id; zeros mean that there is none.
  private static func isID(_ bytes: ArraySlice<UInt8>) -> Bool {
    isHexadecimal(bytes) && bytes.contains { $0 != UInt8(ascii: "0") }
  }
}

/// The spans of a run: one for the run, and one below it for each of its commands. Ids are
/// computed, so that the code that starts a command and the code that reports it need not exchange
/// them.
package struct TraceContext: Hashable, Sendable {
  package let traceID: String
  /// The span that the run is part of.
  package let parentSpan: String?
  private let flags: UInt8
  private let seed: UInt64

  /// Continues the trace of a parent; without one the run has a trace of its own, whose id is
  /// `newTrace`. The id of the run distinguishes runs with the same parent.
  package init(continuing parent: TraceParent?, newTrace: () -> (UInt64, UInt64), runID: String) {
    let traceID: String
    if let parent {
      traceID = parent.traceID
    } else {
      let (high, low) = newTrace()
      traceID = hexadecimal(high, digits: 16) + hexadecimal(max(1, low), digits: 16)
    }
    // The default is sampled, with a random id.
    self.init(traceID, parentSpan: parent?.spanID, flags: parent?.flags ?? 3, runID: runID)
  }

  private init(_ traceID: String, parentSpan: String?, flags: UInt8, runID: String) {
    self.traceID = traceID
    self.parentSpan = parentSpan
    self.flags = flags
    seed = stableHash(of: "\(traceID) \(parentSpan ?? "") \(runID)")
  }

  /// The trace, the parent if there is one, and the flags as text: from these, and the id of the
  /// run, the spans follow.
  package var recorded: String { "\(traceID) \(parentSpan ?? "-") \(flags)" }

  /// The trace of a run from its recorded text; nil for another text.
  package init?(recorded text: String, runID: String) {
    let words = text.split(separator: " ").map(String.init)
    guard words.count == 3, let flags = UInt8(words[2]) else { return nil }
    self.init(words[0], parentSpan: words[1] == "-" ? nil : words[1], flags: flags, runID: runID)
  }

  package var runSpan: String { hexadecimal(max(1, mixed(seed)), digits: 16) }

  /// The span of a command; checks of `wait_for` are part of the run's own.
  package func span(of operation: OperationID, _ role: CommandRole) -> String {
    let number: UInt64
    switch role {
    case .attempt(let attempt): number = UInt64(attempt) << 8
    case .hook(let kind, let index, let round):
      // A hook has few commands; attempts have the byte 0.
      let part = UInt64(round - 1) << 16 ^ UInt64(index)
      number = part << 8 | UInt64(kind.rawValue) + 1
    case .probe: return runSpan
    }
    let key = mixed(UInt64(bitPattern: Int64(operation.rawValue)) << 32 ^ number)
    return hexadecimal(max(1, mixed(seed ^ key)), digits: 16)
  }

  /// The value of `TRACEPARENT` for a command.
  package func header(of operation: OperationID, _ role: CommandRole) -> String {
    let digits = String(flags, radix: 16)
    return "00-\(traceID)-\(span(of: operation, role))-0\(digits)"
  }

  /// SplitMix64's function, for ids that look random.
  private func mixed(_ value: UInt64) -> UInt64 {
    var mixed = value &+ 0x9E37_79B9_7F4A_7C15
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
