// TeamCity: service messages. Syntax and escapes:
// https://www.jetbrains.com/help/teamcity/service-messages.html
// There is no message that masks a text.

import Diagnostics

struct TeamCityDialect: CIDialect {
  var rules: CommandGuard.Rules { .brackets }

  func opening(of group: CIGroup) -> String? {
    "##teamcity[blockOpened name='\(Self.value(group.title))']"
  }

  func closing(of group: CIGroup, isFailure: Bool) -> String? {
    "##teamcity[blockClosed name='\(Self.value(group.title))']"
  }

  /// No fence: `disableServiceMessages` holds until anybody enables them again.
  func fence(_ word: String) -> (before: String, after: String)? { nil }

  /// The message of an annotation. A problem makes the build fail, as the exit status does.
  func annotation(_ annotation: Annotation) -> String? {
    let place = annotation.place.map { " (\($0.path):\($0.line):\($0.column))" } ?? ""
    let text = Self.value("\(annotation.title)\(place): \(annotation.message)", limit: 4000)
    switch annotation.level {
    case .error:
      let identity = Self.identity(annotation.id)
      return "##teamcity[buildProblem description='\(text)' identity='\(identity)']"
    case .warning: return "##teamcity[message text='\(text)' status='WARNING']"
    }
  }

  func mask(_ text: String) -> String? { nil }

  func heading(ofSummary title: String) -> String? { nil }

  /// An identity has at most 60 letters, digits and underscores.
  private static func identity(_ id: String) -> String {
    "oprun_" + String(stableHash(of: id), radix: 16)
  }

  /// The escapes of a value, of which at most `limit` characters are kept.
  static func value(_ text: String, limit: Int = .max) -> String {
    let kept = text.utf16.count > limit ? String(text.prefix(limit - 1)) + "…" : text
    return escaped(kept) { scalar in
      switch scalar {
      case "|", "'", "[", "]": "|\(scalar)"
      case "\n": "|n"
      case "\r": "|r"
      default: scalar.isASCII ? nil : numbered(scalar)
      }
    }
  }

  /// The code units of a character, four digits each.
  private static func numbered(_ scalar: Unicode.Scalar) -> String {
    String(scalar).utf16.map { "|0x" + hexadecimal(UInt64($0), digits: 4) }.joined()
  }
}
