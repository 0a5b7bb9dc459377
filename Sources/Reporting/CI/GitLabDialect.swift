// GitLab CI: collapsible sections of a job's log. Syntax:
// https://docs.gitlab.com/ci/jobs/job_logs/#custom-collapsible-sections
// A section's name is [a-zA-Z0-9_.-]+ (lib/gitlab/regex.rb of GitLab). There are no annotations in a log
// (a JUnit report has that effect), and no way to mask something from within a job.

struct GitLabDialect: CIDialect {
  /// No rules: a section's marker contains control characters, which neither messages nor untrusted output have.
  var rules: CommandGuard.Rules { [] }

  func opening(of group: CIGroup) -> String? {
    let options = group.state == .succeeded ? "[collapsed=true]" : ""
    return "\u{1b}[0Ksection_start:\(group.time):\(Self.name(of: group))\(options)\r\u{1b}[0K"
      + group.title
  }

  func closing(of group: CIGroup, isFailure: Bool) -> String? {
    "\u{1b}[0Ksection_end:\(group.time):\(Self.name(of: group))\r\u{1b}[0K"
  }

  func fence(_ word: String) -> (before: String, after: String)? { nil }

  func annotation(_ annotation: Annotation) -> String? { nil }

  func mask(_ text: String) -> String? { nil }

  func heading(ofSummary title: String) -> String? { nil }

  /// The name of a section, which no other section of the log has, even of other runs.
  private static func name(of group: CIGroup) -> String {
    let letters = group.id.unicodeScalars.map { scalar in
      let isLetter = scalar.isASCII && scalar.properties.isAlphabetic
      return isLetter || "0123456789_.-".unicodeScalars.contains(scalar) ? Character(scalar) : "_"
    }
    return "oprun_\(group.run)_\(group.number)_" + String(letters.prefix(64))
  }
}
