// The open state directory, `.oprun`. Everything in it is reached through the descriptor, as the
// files of a run are through that of its own directory.

import Diagnostics
import Glibc

/// The state directory, opened once and closed when nothing uses it any more.
package final class StateFolder {
  /// The path for people.
  package let path: String
  package let descriptor: Int32

  /// Takes ownership of the descriptor.
  package init(owning descriptor: Int32, path: String) {
    self.descriptor = descriptor
    self.path = path
  }

  deinit { close(descriptor) }

  /// The path of something in it, for people.
  package func shown(_ name: String) -> String { path == "/" ? "/\(name)" : "\(path)/\(name)" }

  /// A path for programs that want one: it leads here, whatever has the folder's name by now.
  package func path(of name: String) -> String { own.map { $0 + name } ?? shown(name) }

  private lazy var own: String? = {
    let own = "/proc/self/fd/\(descriptor)/"
    return access(own, F_OK) == 0 ? own : nil
  }()

  /// The absolute path that leads here now; nil if there is none any more. The kernel tells it in one call, where
  /// realpath(3) looks at each directory on the way.
  package var wholePath: String? {
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/fd/\(descriptor)", &bytes, bytes.count)
    guard count > 0, count < bytes.count else { return realPath(path(of: "")) }
    return String(decoding: bytes[..<count].lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// The directory of a run; nil if there is none. Its path is `runs/<run>` in the state directory.
  package func run(named name: String) -> RunDirectory? {
    openRun(name).map {
      RunDirectory(owning: $0, path: shown("runs/\(name)"), state: self)
    }
  }

  /// The names in a folder within the state directory.
  package func names(in folder: String) -> [String] {
    let number = openat(descriptor, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    return number >= 0 ? namesOfFiles(owning: number) ?? [] : []
  }

  /// Removes a file; false, with `errno`, if it is still there.
  @discardableResult
  package func remove(_ name: String) -> Bool {
    unlinkat(descriptor, name, 0) == 0 || errno == ENOENT
  }

  /// Gives a file another name.
  package func rename(_ name: String, to other: String) -> Bool {
    renameat(descriptor, name, descriptor, other) == 0
  }

  /// Removes the directory of a run and all files in it; false, with `errno`, if it is still there.
  package func removeRun(_ name: String) -> Bool {
    guard Self.isRunName(name) else { return false }
    return removeTree("runs/\(name)", in: descriptor)
  }

  /// The bytes in the logs of a run and in its other files.
  package func size(ofRun name: String) -> Int {
    guard let run = openRun(name) else { return 0 }
    defer { close(run) }
    return sizeOfFiles(in: run)
  }

  private func openRun(_ name: String) -> Int32? {
    guard Self.isRunName(name) else { return nil }
    let run = openat(
      descriptor, "runs/\(name)", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    return run >= 0 ? run : nil
  }

  /// The form of a run's name: `20260402-101502-k3`.
  package static func isRunName(_ name: String) -> Bool {
    let parts = name.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0].count >= 8, parts[1].count == 6, !parts[2].isEmpty else {
      return false
    }
    let isNumeric = parts[..<2].allSatisfy { $0.allSatisfy { (0x30...0x39).contains($0) } }
    return isNumeric
      && parts[2].allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7a).contains($0) }
  }
}
