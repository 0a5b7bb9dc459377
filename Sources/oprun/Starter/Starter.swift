// The first pipeline of a project, written from the files in its directory.

import Diagnostics

/// A step of a starter.
struct StarterStep: Hashable {
  let id: String
  let command: String
  let dependency: String?
  var isManual = false

  init(_ id: String, _ command: String, after dependency: String? = nil, isManual: Bool = false) {
    self.id = id
    self.command = command
    self.dependency = dependency
    self.isManual = isManual
  }
}

/// A commented pipeline.
struct Starter {
  let kinds: [ProjectKind]

  /// Examines a project. `read` returns the text of a file in its directory, or nil if there is none.
  init(read: ProjectKind.Reader) { kinds = ProjectKind.all(read) }

  /// The steps. Their ids have prefixes where two kinds would have the same.
  var steps: [StarterStep] {
    if kinds.isEmpty { return Self.sample }
    guard kinds.count > 1 else {
      return kinds[0].steps.map { StarterStep($0.id, $0.command, after: $0.dependency) }
    }
    return kinds.flatMap { kind in
      kind.steps.map { step in
        StarterStep(
          "\(kind.prefix):\(step.id)", step.command,
          after: step.dependency.map { "\(kind.prefix):\($0)" }, isManual: step.isManual)
      }
    }
  }

  private static let sample = [
    StarterStep("build", "echo 'the command that builds the project'"),
    StarterStep("lint", "echo 'a command that needs nothing else'"),
    StarterStep("test", "echo 'the command that tests it'", after: "build"),
  ]

  /// The text of the pipeline file.
  var text: String {
    let steps = steps
    let example = steps.last?.id ?? ""
    let gap = String(repeating: " ", count: max(0, example.utf8.count - 5))
    let padded = example + String(repeating: " ", count: max(3, 8 - example.utf8.count))
    var text = """
      # Steps run in parallel, except where 'depends_on' says otherwise.
      #
      #   oprun             \(gap)run them
      #   oprun --dry-run   \(gap)show what would run, in which order and why
      #   oprun run \(padded)run one step, and what it needs
      #
      # A step can also have 'env', 'timeout', 'retry', 'matrix', 'if' and much more.

      steps:

      """
    for step in steps {
      text += "  - id: \(Self.scalar(step.id))\n"
      if let dependency = step.dependency {
        text += "    depends_on: [\(Self.scalar(dependency))]\n"
      }
      if step.isManual { text += "    manual: true  # runs only when it is named\n" }
      text += "    run: \(Self.scalar(step.command))\n\n"
    }
    return String(text.dropLast())
  }

  /// A string as it is written in YAML: plain if it cannot be read as anything else.
  private static func scalar(_ text: String) -> String {
    let isPlain =
      text.first?.isLetter == true
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: " "), UInt8(ascii: "-"),
          UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: "_"), UInt8(ascii: "="),
          UInt8(ascii: "'"):
          true
        default: false
        }
      }
    return isPlain ? text : "'" + text.replacingText("'", with: "''") + "'"
  }
}
