// The files that planning reads besides the pipeline file itself: included files, nested pipelines,
// `.env` files. Everything else in this module knows only bytes.

package import Diagnostics
import Glibc

/// The source of the files that a pipeline names. Tests provide their own.
package struct PipelineFiles: Sendable {
  /// The bytes of a file that a pipeline names; nil if there is no such file. `directory` is the
  /// one that the file must be in after links are followed; nil means anywhere.
  package let read:
    @Sendable (_ path: String, _ directory: String?) -> Result<[UInt8]?, InputFailure>

  /// An identity that is the same for all paths of one file.
  package let identity: @Sendable (_ path: String) -> String

  /// The existing path closest to one that leads nowhere; nil if none is close. `takes` chooses among
  /// paths; those of directories end with a slash.
  let meant:
    @Sendable (_ path: String, _ suggester: Suggester, _ takes: (String) -> Bool) -> String?

  package init(
    read:
      @escaping @Sendable (_ path: String, _ directory: String?) -> Result<
        [UInt8]?, InputFailure
      >,
    identity: @escaping @Sendable (_ path: String) -> String = { $0 },
    meant: @escaping @Sendable (String, Suggester, (String) -> Bool) -> String? = { _, _, _ in nil }
  ) {
    self.read = read
    self.identity = identity
    self.meant = meant
  }

  /// The same files, read through a function that may answer instead.
  package func wrapping(
    _ body:
      @escaping @Sendable (_ path: String, _ read: () -> Result<[UInt8]?, InputFailure>) -> Result<
        [UInt8]?, InputFailure
      >
  ) -> PipelineFiles {
    PipelineFiles(
      read: { [read] path, directory in body(path) { read(path, directory) } },
      identity: identity, meant: meant)
  }

  /// The files of the file system.
  package static let system = PipelineFiles(
    read: readSystemFile, identity: { realPath($0) ?? $0 },
    meant: { $1.path(closestTo: $0, takes: $2) })

  /// No files.
  package static let none = PipelineFiles { _, _ in .success(nil) }
}

/// Reads a file from the file system.
private func readSystemFile(
  _ path: String, in directory: String?
) -> Result<[UInt8]?, InputFailure> {
  if access(path, F_OK) != 0, errno == ENOENT || errno == ENOTDIR { return .success(nil) }
  if let directory, !lies(path, in: directory) {
    return .failure(
      InputFailure(
        "\(quoted(path)) is a link that leaves the directory of the file that refers to it"))
  }
  do throws(InputFailure) {
    return .success(try readPipelineFile(path))
  } catch {
    return .failure(error)
  }
}

/// True if a file is below a directory once all links are followed.
private func lies(_ path: String, in directory: String) -> Bool {
  guard let file = realPath(path), let folder = realPath(directory) else { return true }
  return folder == "/" || file.hasPrefix(folder + "/")
}

/// The path of a file, for resolving the files that it names.
struct FilePath: Hashable {
  let path: String

  /// The directory without a slash at the end; `.` where oprun was started.
  var directory: String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// The name for a pipeline that has none of its own.
  var name: String { path.split(separator: "/").last.map(String.init) ?? path }

  /// The path of a file that this one names; nil if it leads out of the directory.
  func resolve(_ name: String) -> String? {
    guard !name.hasPrefix("/"), !name.isEmpty else { return nil }
    var components: [Substring] = []
    for component in name.split(separator: "/") where component != "." {
      if component == ".." {
        if components.popLast() == nil { return nil }
      } else {
        components.append(component)
      }
    }
    guard !components.isEmpty else { return nil }
    let inside = components.joined(separator: "/")
    switch directory {
    case ".": return inside
    case "/": return "/" + inside
    default: return directory + "/" + inside
    }
  }
}
