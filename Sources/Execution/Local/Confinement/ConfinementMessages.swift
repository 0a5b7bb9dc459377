// The messages about confined commands.

import Diagnostics

/// The notice that no cached step of the run is confined.
func unconfined(_ reason: String) -> String {
  "cached steps are not confined to what they declare: \(reason)"
}

func oldKernel(version: Int) -> String {
  version == 0
    ? "the kernel has no Landlock, or it is switched off"
    : "the kernel has version \(version) of Landlock, wanted 3 or newer (Linux 6.2)"
}

func openedWorkspace(by pattern: String) -> String {
  "a step that declares \(quoted(pattern)) is not confined: this pattern opens the whole workspace"
}

func tooManyFiles(foundBy patterns: [String]) -> String {
  "a step that declares \(patterns.prefix(3).map(quoted).joined(separator: ", ")) is not confined: this finds more than 250,000 files; "
    + "name directories in place of patterns, since each of them counts as one"
}

extension Refusal {
  fileprivate var isOutside: Bool { if case .beside = kind { true } else { false } }

  /// True if the name looks like that of a directory: it has no ending.
  private var hasNoEnding: Bool {
    !(path.split(separator: "/").last?.dropFirst().contains(".") ?? false)
  }

  /// The refused path, and the advice what to declare. Paths are relative to the step's directory if they can be.
  var words: String {
    switch kind {
    case .undeclaredFile(let pattern?):
      "it does not declare \(quoted(path)); add it to 'inputs', or a pattern such as \(quoted(pattern))"
    case .undeclaredFile(nil): "it does not declare \(quoted(path))"
    case .repository:
      "it does not declare \(quoted(path)), which changes with every commit: compute what the step wants to know of the repository in "
        + "'vars', or in a step without 'cache'"
    case .undeclaredPlace(let pattern):
      "none of its 'outputs' or 'scratch' patterns covers \(quoted(path)): add it"
        + (hasNoEnding ? " (\(quoted(path + "/")) if it is a directory)" : "")
        + (pattern.map { ", or a pattern such as \(quoted($0))" } ?? "")
    case .readOnly: "it declares \(quoted(path)) as an input, which it cannot change"
    case .replaced:
      "its input \(quoted(path)) was replaced or changed while the command ran: the command can only read the file that was there "
        + "when it started, and not change it"
    case .removed:
      "\(quoted(path)) was removed while the command ran: the command can only use the file that was there when it started"
    case .directory: "it can fill and empty \(quoted(path)), but neither remove nor replace it"
    case .fixed(let place):
      "\(quoted(path)) is declared as a file, and nothing else can be created, replaced or removed in "
        + "\(quoted(place.folder)): "
        + (place.mayBeFolder ? "write \(quoted(path + "/")) if it is a directory, or " : "")
        + (place.pattern.map { "declare \(quoted($0)), which opens \(quoted(place.folder))" }
          ?? "let the command create the file in a directory of its own, because opening this one opens the whole workspace")
    case .beside(let folder):
      "nothing can be created or replaced in \(quoted(folder)), which leads to the workspace"
    }
  }
}

/// The explanation of a failure, if the command printed that something was refused.
func explanation(of refusals: [Refusal]) -> String {
  let shown = refusals.prefix(3).map(\.words).joined(separator: "; ")
  let more = refusals.count > 3 ? "; and \(refusals.count - 3) more" : ""
  // A trace leaves out what is outside the workspace, and no declaration opens it.
  let advice =
    refusals.allSatisfy(\.isOutside)
    ? "let it write somewhere else, or set 'enforce: false'"
    : "'oprun trace' lists all files that the step uses"
  return "this step is confined to what its 'cache' declares: \(shown)\(more); \(advice)"
}
