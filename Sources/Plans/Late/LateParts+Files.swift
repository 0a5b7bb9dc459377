// Whether it depends on files what a step runs, and whether.

import Expressions

extension LateParts {
  /// Whether an expression that decides whether the step runs, and what, calls `hashFiles` or `exists`. Linear in
  /// its expressions.
  package var looksAtFiles: Bool {
    if conditions.contains(where: \.expression.looksAtFiles) { return true }
    var templates = command?.templates ?? []
    templates += settings?.environment.compactMap(\.value.template) ?? []
    templates += settings?.workingDirectory.compactMap(\.text.template) ?? []
    templates += [settings?.standardInput, input].compactMap(\.self)
    return templates.flatMap(\.expressions).contains(where: \.looksAtFiles)
  }
}
