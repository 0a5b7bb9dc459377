// Suggests a pipeline to a user who names a directory, or mistypes a path.

import Diagnostics
import Glibc

/// The path of a pipeline in a directory, which ends with a slash or is empty: the usual one;
/// otherwise the first with a step of that id; otherwise the first.
func pipeline(in directory: String, with step: String? = nil) -> String? {
  let usual = PipelineSearch.names.map { directory + $0 }
  if let path = usual.first(where: { access($0, F_OK) == 0 }) { return path }
  let lines = ["steps:"] + (step.map { ["id: " + $0] } ?? [])
  var first: String?
  for path in entries(at: directory, takesFile: isPipelineName) {
    guard let text = Tool.projectFile(path), text.containsText(lines[0]) else { continue }
    if lines.allSatisfy(text.containsText) { return path }
    first = first ?? path
  }
  return first
}

/// The file that was probably meant by a path that leads to none: one with a similar path, or the
/// pipeline in that directory.
func fileMeant(by path: String) -> String? {
  var status = stat()
  guard stat(path, &status) == 0 else {
    return Suggester().path(closestTo: path) { $0.hasSuffix("/") || isPipelineName($0) }
  }
  let isDirectory = status.st_mode & S_IFMT == S_IFDIR
  return isDirectory ? pipeline(in: path.hasSuffix("/") ? path : path + "/") : nil
}
