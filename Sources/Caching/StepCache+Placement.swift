// Where outputs may be: below the directory that oprun was started in.

import Diagnostics
import Plans

extension StepCache {
  /// Why the outputs cannot be kept where they are.
  func misplaced(_ settings: CacheSettings, _ directory: String?) -> CacheFailure? {
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
}
