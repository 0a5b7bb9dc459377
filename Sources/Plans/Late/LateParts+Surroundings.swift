// The facts that decide whether a step runs, and what, besides the file and earlier steps: files,
// and the run itself.

import Expressions

extension LateParts {
  /// True if an expression that decides whether the step runs, and what, calls `hashFiles` or
  /// `exists`. Linear in its expressions.
  package var looksAtFiles: Bool {
    conditions.contains(where: \.expression.looksAtFiles)
      || templates.flatMap(\.expressions).contains(where: \.looksAtFiles)
  }

  /// True if an expression in the step's command or settings uses the name of the run, which no
  /// other run has. Linear in its expressions.
  package var usesRunName: Bool {
    templates.flatMap(\.expressions).flatMap(\.references).contains {
      $0.root == .run && $0.member != "pipeline" && $0.member != "workspace"
    }
  }

  /// The names of steps in the expressions that decide whether the step runs, and what.
  package var stepsRead: [String] {
    (conditions.map(\.expression) + templates.flatMap(\.expressions)).flatMap(\.references)
      .filter { $0.root == .steps }.compactMap(\.member)
  }

  /// The values that are inserted into the step's command and settings.
  private var templates: [Template] {
    var templates = command?.templates ?? []
    templates += settings?.environment.compactMap(\.value.template) ?? []
    templates += settings?.workingDirectory.compactMap(\.text.template) ?? []
    templates += [settings?.standardInput, input].compactMap(\.self)
    return templates
  }
}
