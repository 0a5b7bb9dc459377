// Which programs the tests start.

package import Foundation

/// A program of the same build as the tests, or the one in the folder that `OPRUN_PROGRAMS` names:
/// so the release programs go through the same tests. Stops the tests if it is not there.
package func builtProgram(_ name: String) -> String {
  let path = programFolder.appending(path: name).path
  precondition(FileManager.default.isExecutableFile(atPath: path), "\(path) was not built")
  return path
}

/// Where they are. Absolute.
package let programFolder: URL = {
  if let given = ProcessInfo.processInfo.environment["OPRUN_PROGRAMS"] {
    return URL(filePath: given).absoluteURL
  }
  return ownFolder
}()

/// Where the tests themselves are, and programs that are made for them alone. Absolute.
package let ownFolder =
  URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
