// Where outputs may be: below the directory that oprun was started in, and not around the state directory.

import Diagnostics
import Plans

extension StepCache {
  /// Why the outputs cannot be kept where they are.
  func misplaced(_ settings: CacheSettings, _ directory: String?) -> CacheFailure? {
    if let output = outputAroundState(settings, directory) {
      return CacheFailure("output \(quoted(output)) holds the state directory")
    }
    if directory == nil, settings.outputs.allSatisfy(\.goesDown),
      settings.scratch.allSatisfy(\.goesDown)
    {
      return nil
    }
    let workspace = options.workspace.split(separator: "/")
    let start = (directory ?? "").hasPrefix("/") ? [] : workspace
    for pattern in settings.outputs + settings.scratch {
      var names = start
      for name in (directory ?? "").split(separator: "/") + pattern.split(separator: "/") {
        if name == ".." { _ = names.popLast() } else if name != "." { names.append(name) }
      }
      guard names.count > workspace.count, names.starts(with: workspace) else {
        return CacheFailure(
          "\(quoted(pattern)) is not below the directory that oprun was started in")
      }
    }
    return nil
  }

  /// An output that is a directory in which the state directory is: it would be removed when the output is restored.
  /// Patterns with wildcards clear no directories.
  private func outputAroundState(_ settings: CacheSettings, _ directory: String?) -> String? {
    // Right in the workspace, only the workspace itself is around it, and that is never an output.
    guard let state = statePath, state.contains("/") else { return nil }
    let place = joined(options.workspace, state)
    let start = directory.map { joined(options.workspace, $0) } ?? options.workspace
    return settings.outputs.first { output in
      let pattern = FilePattern(output, below: start)
      return pattern.isPlain && pattern.covers(place)
    }
  }
}
