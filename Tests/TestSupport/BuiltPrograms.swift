// Which programs the tests start.

package import Foundation

/// A program of the same build as the tests, or the one in the folder that `OPRUN_PROGRAMS` names:
/// so the release programs pass the same tests. Stops the tests if it does not exist.
package func builtProgram(_ name: String) -> String {
  let path = programFolder.appending(path: name).path
  precondition(FileManager.default.isExecutableFile(atPath: path), "\(path) was not built")
  return path
}

/// The absolute path of their directory.
package let programFolder: URL = {
  if let given = ProcessInfo.processInfo.environment["OPRUN_PROGRAMS"] {
    return URL(filePath: given).absoluteURL
  }
  return ownFolder
}()

/// The absolute path of the directory of the tests and of programs that are built only for them.
package let ownFolder =
  URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
