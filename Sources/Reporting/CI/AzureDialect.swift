// Azure Pipelines: logging and formatting commands. Syntax:
// https://learn.microsoft.com/en-us/azure/devops/pipelines/scripts/logging-commands
// The agent takes `##vso[` anywhere in a line, and counts at most 10 errors and 10 warnings of a step.

import Diagnostics

struct AzureDialect: CIDialect {
  var rules: CommandGuard.Rules { .brackets }

  /// The command that opens a group. Groups are shown closed and cannot be nested: a failure stands outside.
  func opening(of group: CIGroup) -> String? {
    group.state == .failed ? nil : "##[group]\(group.title)"
  }

  func closing(of group: CIGroup, isFailure: Bool) -> String? {
    group.state == .failed ? nil : "##[endgroup]"
  }

  func fence(_ word: String) -> (before: String, after: String)? { nil }

  func annotation(_ annotation: Annotation) -> String? {
    let type = annotation.level == .error ? "error" : "warning"
    let place = annotation.place.map { place in
      "sourcepath=\(Self.escape(place.path));linenumber=\(place.line);columnnumber=\(place.column);"
    }
    return "##vso[task.logissue type=\(type);\(place ?? "")]"
      + Self.escape("\(annotation.title): \(annotation.message)")
  }

  func mask(_ text: String) -> String? {
    text.contains(where: \.isNewline) ? nil : "##vso[task.setsecret]\(Self.escape(text))"
  }

  func heading(ofSummary title: String) -> String? { nil }

  /// The escapes of properties and messages. Agents before 2.206 do not know the escape of the
  /// percent sign, so it is used only where the sign would begin an escape.
  static func escape(_ text: String) -> String {
    let percents = ["%AZP25", "%3B", "%0D", "%0A", "%5D"].reduce(text) { text, sequence in
      text.replacingText(sequence, with: "%AZP25" + sequence.dropFirst())
    }
    return escaped(percents) { [";": "%3B", "\r": "%0D", "\n": "%0A", "]": "%5D"][$0] }
  }
}
