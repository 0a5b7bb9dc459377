// One key of `with:`, which is also one option of the command line.

import Diagnostics

/// A row of a built-in step's table.
package struct BuiltinKey: Sendable {
  /// The name in `with:`; on the command line it is `--max-parallel` or `--max_parallel`.
  package let name: String
  package let type: BuiltinType
  package let isRequired: Bool
  /// The default as it would be written; nil if there is none.
  package let defaultValue: String?
  /// The part of its values that may be shown.
  package let disclosure: Disclosure
  /// A sentence for help and documentation.
  package let summary: String

  package init(
    _ name: String, _ type: BuiltinType, default defaultValue: String? = nil,
    isRequired: Bool = false, shows disclosure: Disclosure = .everything, _ summary: String
  ) {
    self.name = name
    self.type = type
    self.isRequired = isRequired
    self.disclosure = disclosure
    self.defaultValue = defaultValue
    self.summary = summary
  }
}

/// The part of a key's values that may be shown, wherever a command or a message contains them.
package enum Disclosure: Hashable, Sendable {
  case everything
  /// A URL, without the parts that give access.
  case url
  /// A host and a port. A user who writes a URL instead may have put a password into it.
  case server
  /// A header, without its value unless the value is harmless.
  case header

  package func shown(_ text: String) -> String {
    switch self {
    case .everything: return text
    case .url: return shownURL(text)
    case .server: return withoutCredentials(text)
    case .header:
      guard case .pair(let name, _)? = pair(text) else { return maskedValue }
      return Self.isHarmless(header: name) ? text : "\(name): \(maskedValue)"
    }
  }

  /// True if a header contains no secret: it may be shown, and sent to any host.
  package static func isHarmless(header name: String) -> Bool {
    ["accept", "accept-language", "user-agent"].contains(name.lowercased())
  }
}

/// The type of a key's values.
package indirect enum BuiltinType: Hashable, Sendable {
  /// Any string except the empty one.
  case text
  case boolean
  case integer(ClosedRange<Int>)
  /// A duration such as `30s`; may be 0s.
  case duration
  /// A size such as `2M`.
  case size
  /// A SHA-256 hash, as `sha256sum` prints it.
  case sha256
  /// A URL of http or https.
  case url
  /// A server: `host:port`.
  case server
  /// A colour such as `#ff8000`, or the name of one.
  case color
  case choice([String])
  /// One value, or a list of them. On the command line the option is given several times.
  case list(BuiltinType)
  /// A map of names to strings. On the command line it is `--headers='Name: value'`, given several
  /// times.
  case map

  /// The words for "wants …" in a message.
  package var wanted: String {
    switch self {
    case .text: "a string"
    case .boolean: "true or false"
    case .integer(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
    case .duration: "a duration such as 30s"
    case .size: "a size such as 2M"
    case .sha256: "64 hexadecimal digits"
    case .url: "a URL of http or https"
    case .server: "'host:port'"
    case .color: Color.wanted
    case .choice(let words): inWords(words)
    case .list(let item): item.wanted
    case .map: "'name: value'"
    }
  }

  package var placeholder: String {
    switch self {
    case .text: "TEXT"
    case .boolean: "true|false"
    case .integer: "N"
    case .duration: "TIME"
    case .size: "SIZE"
    case .sha256: "SHA256"
    case .url: "URL"
    case .server: "HOST:PORT"
    case .color: "COLOR"
    case .choice(let words): words.joined(separator: "|")
    case .list(let item): item.placeholder
    case .map: "NAME: VALUE"
    }
  }

  /// The limit that a value exceeds, in words; nil if it exceeds none.
  package func limitExceeded(by text: String) -> String? {
    switch self {
    case .duration, .size: exceededLimit(text)
    case .list(let item): item.limitExceeded(by: text)
    case .text, .boolean, .integer, .sha256, .url, .server, .color, .choice, .map: nil
    }
  }

  /// Parses one value as it is written; nil if it is not of this type.
  package func value(of text: String) -> BuiltinValue? {
    switch self {
    case .text: text.isEmpty ? nil : .text(text)
    case .boolean: text == "true" ? .boolean(true) : text == "false" ? .boolean(false) : nil
    case .integer(let range):
      canonicalNumber(text).flatMap { range.contains($0) ? .integer($0) : nil }
    case .duration: nanoseconds(text).map(BuiltinValue.duration)
    case .size: byteCount(text).map(BuiltinValue.size)
    case .sha256: isSHA256(text) ? .text(text) : nil
    case .url: isWebURL(text) ? .text(text) : nil
    case .server: HostAndPort(text) == nil ? nil : .text(text)
    case .color: Color(text) == nil ? nil : .text(text)
    case .choice(let words): words.contains(text) ? .text(text) : nil
    case .list(let item): item.value(of: text)
    case .map: pair(text)
    }
  }
}

/// A checked value, or one element of a list or a map.
package enum BuiltinValue: Hashable, Sendable {
  case text(String)
  case boolean(Bool)
  case integer(Int)
  /// A duration in nanoseconds.
  case duration(Int64)
  /// A size in bytes.
  case size(Int)
  case pair(name: String, value: String)
}
