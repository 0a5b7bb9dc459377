// The status and headers of a response, and what they mean. It knows no connection and no file.

import Diagnostics

/// The part of a response before the body.
struct ResponseHead: Sendable {
  private(set) var status = 0
  /// True if the response came in HTTP/2 frames, which mark the last one.
  private(set) var isFramed = false
  private var fields: [String: String] = [:]
  private var byteCount = 0

  /// The maximum size of all header lines of one response together, including trailers and those of
  /// interim responses.
  static let byteLimit = 256 << 10

  /// Takes one line, with its line end. False if there are too many. A status line starts again,
  /// because `100 Continue` and the responses of proxies come first.
  mutating func take(_ line: UnsafeRawBufferPointer) -> Bool {
    guard count(line) else { return false }
    let text = String(decoding: line, as: UTF8.self)
    if text.hasPrefix("HTTP/") {
      fields = [:]
      isFramed = text.hasPrefix("HTTP/2")
      status = text.split(separator: " ").dropFirst().first.flatMap { Int($0.prefix(3)) } ?? 0
    } else if let colon = text.firstIndex(of: ":") {
      let value = text[text.index(after: colon)...].trimmed
      guard !value.isEmpty else { return true }
      let name = text[..<colon].lowercased()
      // For these, all occurrences count: RFC 9110, 5.3.
      let isList = ["content-length", "content-encoding", "transfer-encoding"].contains(name)
      fields[name] = isList ? fields[name].map { "\($0), \(value)" } ?? value : value
    }
    return true
  }

  /// Counts a line; false if there are too many.
  mutating func count(_ line: UnsafeRawBufferPointer) -> Bool {
    byteCount += line.count
    return byteCount <= Self.byteLimit
  }

  subscript(_ name: String) -> String? { fields[name] }

  /// The content length; nil if there is none, or if it is invalid.
  var contentLength: Int? {
    guard !isChunked, let text = self["content-length"] else { return nil }
    let values = Set(text.split(separator: ",", omittingEmptySubsequences: false).map(\.trimmed))
    guard values.count == 1, let digits = values.first else { return nil }
    return number(digits[...])
  }

  /// An invalid length: RFC 9112, 6.3, does not allow one that is not a number, is too large, or
  /// differs from another.
  var invalidLength: String? {
    isChunked || contentLength != nil ? nil : self["content-length"]
  }

  /// True if the content is chunked, so that it marks its own end, whatever a length says: RFC 9112, 6.3.
  var isChunked: Bool {
    self["transfer-encoding"]?.lowercased().split(separator: ",").last?.trimmed == "chunked"
  }

  /// True if the body is compressed for transfer, so that lengths and ranges are not the content's.
  var isEncoded: Bool { encoding != nil }

  /// The encoding in lower case: that of the content or of its transfer, which mean the same here.
  var encoding: String? {
    let lists = [self["content-encoding"], self["transfer-encoding"]].compactMap { $0 }
    let names = lists.flatMap { $0.lowercased().split(separator: ",").map(\.trimmed) }
      .filter { $0 != "identity" && $0 != "chunked" }
    return names.isEmpty ? nil : names.joined(separator: ", ")
  }

  var forbidsKeeping: Bool {
    self["cache-control"]?.lowercased().contains("no-store") ?? false
  }

  var validators: Validators {
    Validators(entityTag: self["etag"], lastModified: self["last-modified"])
  }

  /// The validator for If-Range, which confirms that a part still matches: a strong entity tag, or
  /// nothing. Two contents of the same second can have the same date.
  var strongValidator: String? {
    guard !isEncoded, let tag = self["etag"], tag.hasPrefix("\""), tag.hasSuffix("\""),
      tag.count > 2
    else { return nil }
    return tag
  }

  /// The range of the content: `bytes 100-199/200`.
  var contentRange: ContentRange? { self["content-range"].flatMap(ContentRange.init) }

  /// The delay in seconds from now; nil if there is none or it is invalid.
  func retryAfter(now: Int) -> Int? {
    guard let text = self["retry-after"] else { return nil }
    if let seconds = Int(text) { return max(0, seconds) }
    return secondsSince1970(httpDate: text).map { max(0, $0 - now) }
  }
}

/// The validators that distinguish one state of a resource from another.
struct Validators: Hashable, Sendable {
  var entityTag: String?
  var lastModified: String?

  var areMissing: Bool { entityTag == nil && lastModified == nil }
}

/// The range of bytes that a response carries, and the total.
struct ContentRange: Hashable, Sendable {
  let first: Int
  let last: Int
  /// The total; nil if the server does not know it.
  let total: Int?

  /// The number of bytes up to the last one.
  var end: Int { last + 1 }

  /// Parses what follows RFC 9110, 14.4; nil for anything else, and for numbers that are too large.
  init?(_ text: String) {
    let words = text.split(separator: " ")
    guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
    let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
    let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, ends.count == 2, let first = number(ends[0]),
      let last = number(ends[1]), first <= last, last < Int.max
    else { return nil }
    self.first = first
    self.last = last
    total = number(parts[1])
    if total == nil, parts[1] != "*" { return nil }
  }
}

/// Parses a number of digits alone.
private func number(_ digits: Substring) -> Int? {
  digits.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(digits) : nil
}

/// Parses `Sun, 06 Nov 1994 08:49:37 GMT`, the only form that is sent today.
func secondsSince1970(httpDate text: String) -> Int? {
  let parts = text.split(separator: " ")
  let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
  guard parts.count == 6, parts[5] == "GMT", let day = Int(parts[1]), let year = Int(parts[3]),
    let month = months.firstIndex(of: String(parts[2])), (1...31).contains(day),
    (1970...9999).contains(year)
  else { return nil }
  let clock = parts[4].split(separator: ":").compactMap { Int($0) }
  guard clock.count == 3, (0...23).contains(clock[0]), (0...59).contains(clock[1]),
    (0...60).contains(clock[2])
  else { return nil }
  return days(year: year, month: month + 1, day: day) * 86_400 + clock[0] * 3600 + clock[1] * 60
    + clock[2]
}

/// Days since 1970-01-01. The year begins in March, so that a leap day is its last.
private func days(year: Int, month: Int, day: Int) -> Int {
  let year = month > 2 ? year : year - 1
  let monthFromMarch = (month + 9) % 12
  let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
  return year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
}

extension StringProtocol {
  /// The string without surrounding spaces and line ends.
  var trimmed: String {
    let isBlank: (UInt8) -> Bool = { [0x20, 0x09, 0x0a, 0x0d].contains($0) }
    var bytes = Array(utf8)[...]
    while let last = bytes.last, isBlank(last) { bytes.removeLast() }
    return String(decoding: bytes.drop(while: isBlank), as: UTF8.self)
  }
}
