// The file that `list` names: a URL on each line, followed by a space and its hash. It does not
// know what is done with them.

import BuiltinSteps
import Diagnostics

struct SourceList {
  private static let limit = 256 << 20

  private let path: String
  private let step: BuiltinStep
  private let text: String

  /// Reads the whole file; it can be a link or a pipe.
  init(_ path: String, of step: BuiltinStep) throws(UsageFailure) {
    self.path = path
    self.step = step
    do throws(SystemError) {
      text =
        try path == "-"
        ? Files.inputText(upTo: Self.limit) : Files.namedText(of: path, upTo: Self.limit)
    } catch {
      throw UsageFailure("the list: \(error.message)", step: step.name)
    }
  }

  /// The sources; throws with all invalid lines. Empty lines and those with `#` are ignored.
  func sources(
    headers: [(name: String, value: String)]
  ) throws(UsageFailure) -> [Source] {
    // Editors on Windows write it at the beginning of a file.
    let text = text.first == "\u{feff}" ? text.dropFirst() : text[...]
    let isWhole = ByteText.isWhole(self.text)
    var sources: [Source] = []
    var mistakes = ListMistakes(path)
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: Self.endsLine)
      .enumerated()
    {
      let words = line.split { $0 == " " || $0 == "\t" }
      guard let url = words.first, !url.hasPrefix("#") else { continue }
      if !isWhole, !ByteText.isWhole(String(line)) {
        mistakes.add(line: index + 1, .oddBytes(line))
        continue
      }
      let expected = words.count > 1 ? Digest(String(words[1])) : nil
      guard let source = Source(String(url), headers: headers, expected: expected) else {
        mistakes.add(line: index + 1, .badURL(url))
        continue
      }
      if words.count > 1, expected == nil {
        mistakes.add(line: index + 1, .badHash(words[1]))
      } else if words.count > 2 {
        mistakes.add(line: index + 1, .surplus(words[2]))
      } else {
        sources.append(source)
      }
    }
    if let error = mistakes.error(step) { throw error }
    return sources
  }

  /// True if a character ends a line, as on Unix, Windows and old Macs, which is how editors count lines.
  private static func endsLine(_ character: Character) -> Bool {
    character == "\n" || character == "\r\n" || character == "\r"
  }
}

/// A mistake in a line of a list.
enum ListMistake {
  case oddBytes(Substring)
  case badURL(Substring)
  case badHash(Substring)
  case surplus(Substring)

  var words: String {
    switch self {
    case .oddBytes(let text):
      "wants UTF-8, found \(quoted(ByteText.shown(shownURL(String(text)))))"
    case .badURL(let text):
      "wants a URL of http or https, found \(quoted(shownURL(String(text))))"
    case .badHash(let text):
      "wants a SHA-256 of 64 hexadecimal digits after the URL, found \(quoted(shownURL(String(text))))"
    case .surplus(let text):
      "wants nothing after the URL and its SHA-256, found \(quoted(shownURL(String(text))))"
    }
  }
}

/// The first mistakes of a list, and the number of all.
struct ListMistakes {
  static let shownCount = 20

  private let path: String
  private var lines: [String] = []
  private var count = 0

  init(_ path: String) { self.path = path }

  mutating func add(line: Int, _ mistake: ListMistake) {
    count += 1
    if lines.count < Self.shownCount {
      lines.append("\(printable(path)):\(line): \(mistake.words)")
    }
  }

  /// The failure; nil if there are no mistakes.
  func error(_ step: BuiltinStep) -> UsageFailure? {
    guard count > 0 else { return nil }
    let rest = count - lines.count
    let more = rest > 0 ? ["… and \(rest) more"] : []
    let head = "the list has \(count) wrong line\(count == 1 ? "" : "s")"
    return UsageFailure(([head] + lines + more).joined(separator: "\n  "), step: step.name)
  }
}
