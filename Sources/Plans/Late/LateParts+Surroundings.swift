// What decides whether a step runs, and what, besides the file and earlier steps: files, the run itself.

import Expressions

extension LateParts {
  /// Whether an expression that decides whether the step runs, and what, calls `hashFiles` or `exists`. Linear in
  /// its expressions.
  package var looksAtFiles: Bool {
    conditions.contains(where: \.expression.looksAtFiles)
      || templates.flatMap(\.expressions).contains(where: \.looksAtFiles)
  }

  /// Whether an expression in what the step runs uses the name of the run, which no other run has. Linear in its
  /// expressions.
  package var usesRunName: Bool {
    templates.flatMap(\.expressions).flatMap(\.references).contains {
      $0.root == .run && $0.member != "pipeline" && $0.member != "workspace"
    }
  }

  /// The steps, as they are named, that expressions use which decide whether the step runs, and what.
  package var stepsRead: [String] {
    (conditions.map(\.expression) + templates.flatMap(\.expressions)).flatMap(\.references)
      .filter { $0.root == .steps }.compactMap(\.member)
  }

  /// The values that are inserted into what the step runs.
  private var templates: [Template] {
    var templates = command?.templates ?? []
    templates += settings?.environment.compactMap(\.value.template) ?? []
    templates += settings?.workingDirectory.compactMap(\.text.template) ?? []
    templates += [settings?.standardInput, input].compactMap(\.self)
    return templates
  }
}
