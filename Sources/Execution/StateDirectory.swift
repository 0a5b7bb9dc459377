// `.oprun/`: where runs keep their files. Readable by its owner alone, whatever the umask says.

package import Diagnostics
import Glibc
package import Pipelines

/// The state directory of a project.
package struct StateDirectory: Sendable {
  package let path: String

  package init(path: String) { self.path = path }

  /// Makes the folder of a new run, named by the time in UTC and two characters that tell apart
  /// what started in the same second: `20260402-101502-k3`.
  package func makeRun() throws(SystemError) -> (id: String, directory: RunDirectory) {
    try makeFolder(path)
    try writeIgnoreFile()
    try makeFolder("\(path)/runs")
    while true {
      let id = "\(StateDirectory.timeStamp())-\(StateDirectory.suffix())"
      let folder = "\(path)/runs/\(id)"
      if mkdir(folder, 0o700) == 0 { return (id, RunDirectory(path: folder)) }
      guard errno == EEXIST else { throw .last("cannot make '\(folder)'") }
    }
  }

  private func makeFolder(_ path: String) throws(SystemError) {
    guard mkdir(path, 0o700) != 0, errno != EEXIST else { return }
    throw .last("cannot make '\(path)'")
  }

  /// Keeps the folder out of version control.
  private func writeIgnoreFile() throws(SystemError) {
    let file = "\(path)/.gitignore"
    let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if descriptor < 0 {
      if errno == EEXIST { return }
      throw .last("cannot write '\(file)'")
    }
    defer { close(descriptor) }
    guard write(descriptor, "*\n", 2) == 2 else { throw .last("cannot write '\(file)'") }
  }

  private static func timeStamp() -> String {
    var now = time(nil)
    var parts = tm()
    gmtime_r(&now, &parts)
    let fields = [parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec]
    let texts = fields.map { $0 < 10 ? "0\($0)" : "\($0)" }
    return "\(parts.tm_year + 1900)\(texts[0])\(texts[1])-\(texts[2])\(texts[3])\(texts[4])"
  }

  private static func suffix() -> String {
    let letters = Array("abcdefghijkmnpqrstuvwxyz23456789")
    return String((0..<2).map { _ in letters[Int.random(in: 0..<letters.count)] })
  }
}
