// The rules for patterns of `cache`, whether they are literal or known only later.

import Diagnostics
package import Expressions

extension CachePart {
  /// The fault of a pattern; nil if it is valid.
  package func fault(in pattern: String, isWritten: Bool = true) -> UnlocatedFailure? {
    pattern.isUsualPattern ? nil : faultOfUnusual(pattern, isWritten)
  }

  private func faultOfUnusual(_ pattern: String, _ isWritten: Bool) -> UnlocatedFailure? {
    let isInput = self == .inputs
    let path = isInput && pattern.hasPrefix("!") ? pattern.dropFirst() : pattern[...]
    if path.isEmpty {
      return UnlocatedFailure(
        "\(quoted(rawValue)) must not contain an empty pattern",
        help: isWritten ? nil : "an expression stands for no pattern if it yields null or []")
    }
    if path.utf8.contains(0) {
      return UnlocatedFailure("\(quoted(rawValue)) must not contain the character '\\u{0}'")
    }
    if !isInput, path.hasPrefix("!") {
      return UnlocatedFailure(
        "\(quoted(rawValue)) must not contain \(quoted(pattern)): only 'inputs' can exclude files",
        help: "name what the step makes; a file whose name begins with '!' is './!…'")
    }
    if !isInput, path.hasPrefix("/") {
      return UnlocatedFailure(
        "\(quoted(rawValue)) must be relative to the step's directory, not \(quoted(pattern))")
    }
    if path.utf8.contains(UInt8(ascii: "{")), path.hasBraces {
      return UnlocatedFailure(
        "\(quoted(pattern)) is not a pattern: braces are not expanded",
        help: "write one pattern for each alternative")
    }
    // The value of an expression is the name of a file.
    if !isWritten { return nil }
    if path == "~" || path.hasPrefix("~/") {
      return UnlocatedFailure(
        "\(quoted(pattern)) is not a pattern: '~' is not expanded",
        help: "write ${{ env.HOME }}, or './~' for a file or directory of this name")
    }
    if let name = path.shellVariable {
      return UnlocatedFailure(
        "\(quoted(pattern)) is not a pattern: variables of a shell are not expanded",
        help: "write ${{ env.\(name) }}, or '[$]' for the character '$'")
    }
    return nil
  }
}

extension String {
  /// True if no rule needs more than a look at each byte, as with nearly all patterns.
  fileprivate var isUsualPattern: Bool {
    var copy = self
    return copy.withUTF8 { bytes in
      guard let first = bytes.first, first != UInt8(ascii: "!"), first != UInt8(ascii: "/"),
        first != UInt8(ascii: "~")
      else { return false }
      return !bytes.contains { $0 == 0 || $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "$") }
    }
  }
}

extension Substring {
  /// The name in the first `${NAME}`, or `$NAME` at the beginning of a file name; nil if there is none. Java calls
  /// classes in classes `Outer$Inner.class`.
  fileprivate var shellVariable: Substring? {
    var rest = self
    while let sign = rest.firstIndex(of: "$") {
      let isFirst = sign == startIndex || self[index(before: sign)] == "/"
      rest = rest[rest.index(after: sign)...]
      let isBraced = rest.hasPrefix("{")
      let name = (isBraced ? rest.dropFirst() : rest).prefix {
        $0 == "_" || $0.isASCII && ($0.isLetter || $0.isNumber)
      }
      if isFirst || isBraced, let first = name.first, !first.isNumber { return name }
    }
    return nil
  }

  /// True if the text holds `{`, then `,`, then `}` within one name.
  fileprivate var hasBraces: Bool {
    split(separator: "/").contains { name in
      guard let open = name.firstIndex(of: "{"), let close = name.lastIndex(of: "}") else {
        return false
      }
      return open < close && name[open..<close].contains(",")
    }
  }
}
