// Remembers the files that a pipeline was read from.

import Caching
import Pipelines

/// The paths that planning asked for, also of files that do not exist.
final class ReadPaths: @unchecked Sendable {  // there is one thread
  private(set) var paths: Set<PathName> = []

  func note(_ path: String) { paths.insert(PathName(path)) }

  func files(_ files: PipelineFiles) -> PipelineFiles {
    files.wrapping { [self] path, read in
      paths.insert(PathName(path))
      return read()
    }
  }

  /// The files, as absolute paths.
  func absolutePaths(below directory: String) -> Set<PathName> {
    Set(paths.map { PathName(FilePattern(path: $0.text, below: directory).path) })
  }
}
