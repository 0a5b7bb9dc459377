// Regular expressions that whole strings must match: PCRE2, with limits on everything that a
// pattern could use. No other file knows the library. The dialect is described in
// docs/pipeline-format.md, "Patterns".

import CPCRE2

/// Why a string is not a usable pattern.
package struct PatternFailure: Error, Hashable {
  package let reason: String
  /// The position in bytes from the start of the pattern; nil if the fault has no single position.
  package var offset: Int?
}

/// A compiled pattern. Any number of matches may share it.
package final class RegularExpression: @unchecked Sendable {  // never changes once it is made
  package let pattern: String
  fileprivate let code: OpaquePointer

  /// Compiles a pattern. Throws if the string is not one, or is too large, or if all patterns of
  /// `matcher` together are.
  package init(_ pattern: String, _ matcher: PatternMatcher) throws(PatternFailure) {
    guard pattern.utf8.count <= PatternLimit.byteCount else {
      throw PatternFailure(
        reason: "it is longer than \(PatternLimit.byteCount) bytes, which is the limit")
    }
    self.pattern = pattern
    code = try matcher.compile(pattern)
  }

  deinit { pcre2_code_free_8(code) }

  /// True if the whole string matches. Throws if matching exceeds the limits.
  package func matches(_ text: String, _ matcher: PatternMatcher) throws(PatternFailure) -> Bool {
    // A string with a NUL cannot be used anywhere.
    if text.utf8.contains(0) { return false }
    return try matcher.match(self, text)
  }
}

/// The limits of patterns. A value of 64 MiB that is matched in a few steps for each byte is within
/// the limits; a pattern that backtracks without end is not.
enum PatternLimit {
  package static let byteCount = 4096
  package static let nesting: UInt32 = 64
  /// The size of all patterns of a matcher, compiled.
  static let compiledByteCount = 16 << 20
  /// The number of steps of one match.
  package static let steps: UInt32 = 1_000_000
  /// The memory of one match, in KiB.
  package static let memory: UInt32 = 32 << 10
  /// The number of matches of a matcher that take more than a few steps for each byte.
  static let longMatches = 4
  /// The size of all patterns of a matcher, because some take long to compile.
  static let totalByteCount = 64 << 10
}

/// Compiles and matches, and counts what all patterns of a file use together.
package final class PatternMatcher {
  private var byteCount = 0
  private var compiledByteCount = 0
  private var longMatchCount = 0
  /// The memory for matches, created for the first one and reused.
  private var match: OpaquePointer?
  private var context: OpaquePointer?

  package init() {}

  deinit {
    pcre2_match_data_free_8(match)
    pcre2_match_context_free_8(context)
  }

  /// The options of all patterns: `.` matches line breaks, too; classes such as `\d` mean the
  /// letters and digits of ASCII.
  private static let options =
    PCRE2_ANCHORED | PCRE2_ENDANCHORED | PCRE2_UTF | PCRE2_NEVER_UCP | PCRE2_DOTALL
    | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C

  fileprivate func compile(_ pattern: String) throws(PatternFailure) -> OpaquePointer {
    byteCount += pattern.utf8.count
    guard byteCount <= PatternLimit.totalByteCount else {
      throw PatternFailure(
        reason: "all patterns together are longer than 64 KiB, which is the limit")
    }
    let context = pcre2_compile_context_create_8(nil)
    defer { pcre2_compile_context_free_8(context) }
    pcre2_set_parens_nest_limit_8(context, PatternLimit.nesting)
    var error: Int32 = 0
    var offset = 0
    var pattern = pattern
    let code = pattern.withUTF8 { bytes in
      pcre2_compile_8(
        bytes.baseAddress, bytes.count, Self.options, &error, &offset, context)
    }
    guard let code else { throw Self.fault(error, at: offset) }
    var size = 0
    pcre2_pattern_info_8(code, UInt32(PCRE2_INFO_SIZE), &size)
    compiledByteCount += size
    guard compiledByteCount <= PatternLimit.compiledByteCount else {
      pcre2_code_free_8(code)
      throw PatternFailure(
        reason: "all patterns together take more than 16 MiB, which is the limit")
    }
    return code
  }

  private static func fault(_ error: Int32, at offset: Int) -> PatternFailure {
    if error == PCRE2_ERROR_PARENTHESES_NEST_TOO_DEEP {
      return PatternFailure(
        reason: "parentheses are nested more than \(PatternLimit.nesting) levels deep, "
          + "which is the limit", offset: offset)
    }
    if error == PCRE2_ERROR_PATTERN_TOO_LARGE {
      return PatternFailure(reason: "it takes more than 64 KiB, which is the limit")
    }
    return PatternFailure(reason: words(of: error), offset: offset)
  }

  /// The library's own message, which is in lower case.
  private static func words(of error: Int32) -> String {
    var text = [UInt8](repeating: 0, count: 256)
    pcre2_get_error_message_8(error, &text, text.count)
    return String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
  }
}

extension PatternMatcher {
  /// Matches first with a few steps for each byte, which are nearly always enough and need not be counted.
  fileprivate func match(
    _ expression: RegularExpression, _ text: String
  ) throws(PatternFailure) -> Bool {
    let few = UInt32(clamping: 100 + 4 * text.utf8.count)
    var result = match(expression, text, steps: min(few, PatternLimit.steps))
    if result == PCRE2_ERROR_MATCHLIMIT, few < PatternLimit.steps {
      longMatchCount += 1
      guard longMatchCount <= PatternLimit.longMatches else {
        throw PatternFailure(
          reason: "more than \(PatternLimit.longMatches) values take long to match, "
            + "which is the limit")
      }
      result = match(expression, text, steps: PatternLimit.steps)
    }
    switch result {
    case 0...: return true
    case PCRE2_ERROR_NOMATCH: return false
    case PCRE2_ERROR_MATCHLIMIT:
      throw PatternFailure(
        reason: "matching takes more than \(PatternLimit.steps) steps, which is the limit")
    case PCRE2_ERROR_HEAPLIMIT, PCRE2_ERROR_NOMEMORY, PCRE2_ERROR_DEPTHLIMIT:
      throw PatternFailure(reason: "matching takes more than 32 MiB, which is the limit")
    default: throw PatternFailure(reason: Self.words(of: result))
    }
  }

  private func match(_ expression: RegularExpression, _ text: String, steps: UInt32) -> Int32 {
    // One pair of offsets is enough, because the position of the match does not matter.
    match = match ?? pcre2_match_data_create_8(1, nil)
    context = context ?? pcre2_match_context_create_8(nil)
    guard match != nil, context != nil else { return PCRE2_ERROR_NOMEMORY }
    pcre2_set_match_limit_8(context, steps)
    pcre2_set_heap_limit_8(context, PatternLimit.memory)
    var text = text
    return text.withUTF8 { bytes in
      // A null pointer would be refused, even for no bytes.
      withUnsafePointer(to: UInt8(0)) { nothing in
        pcre2_match_8(
          expression.code, bytes.baseAddress ?? nothing, bytes.count, 0, PCRE2_NO_UTF_CHECK, match,
          context)
      }
    }
  }
}

/// The version of PCRE2.
package var patternVersion: String {
  var text = [UInt8](repeating: 0, count: 64)
  let count = text.withUnsafeMutableBytes {
    pcre2_config_8(UInt32(PCRE2_CONFIG_VERSION), $0.baseAddress)
  }
  return count > 0 ? String(decoding: text.prefix(Int(count) - 1), as: UTF8.self) : ""
}
