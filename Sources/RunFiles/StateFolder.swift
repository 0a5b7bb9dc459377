// The open state directory, `.oprun`. Everything in it is reached through the descriptor, as the
// files of a run are through that of its own directory.

import Diagnostics
import Glibc

/// The state directory, opened once and closed when nothing uses it any more.
package final class StateFolder {
  /// The path for people.
  package let path: String
  package let descriptor: Int32

  /// The file system of the directory. Tests set it.
  package private(set) lazy var fileSystem = FileSystem(of: descriptor)
  /// Why files in the directory cannot be locked: an errno. Nil if locking works, if it cannot be
  /// tried, or if no other machine uses the file system.
  package private(set) lazy var lockFault = fileSystem.network == nil ? nil : triedLock

  /// Takes ownership of the descriptor.
  package init(owning descriptor: Int32, path: String) {
    self.descriptor = descriptor
    self.path = path
  }

  package convenience init(
    owning descriptor: Int32, path: String, on fileSystem: FileSystem, lockFault: Int32? = nil
  ) {
    self.init(owning: descriptor, path: path)
    self.fileSystem = fileSystem
    self.lockFault = lockFault
  }

  deinit { close(descriptor) }

  /// The path of something in the directory, for people.
  package func shown(_ name: String) -> String { path == "/" ? "/\(name)" : "\(path)/\(name)" }

  /// A path for programs that need one: it leads to this directory, whatever has its name by now.
  package func path(of name: String) -> String { own.map { $0 + name } ?? shown(name) }

  private lazy var own: String? = {
    let own = "/proc/self/fd/\(descriptor)/"
    return access(own, F_OK) == 0 ? own : nil
  }()

  /// A path for a library that would at once replace the links in `path(of:)` by their targets: the
  /// kernel tells the target in one call. Names in the path need not be UTF-8.
  package func followedPath(of name: String) -> String {
    let whole = withLinkTarget { String(validating: $0, as: UTF8.self) } ?? nil
    guard let whole, whole.first == "/", !whole.hasSuffix(" (deleted)") else {
      return path(of: name)
    }
    return "\(whole)/\(name)"
  }

  /// The length in bytes of the absolute path of the directory when it was first asked for; nil if
  /// there was none.
  package private(set) lazy var pathLength =
    withLinkTarget(\.count) ?? realPath(path(of: ""))?.utf8.count

  /// Calls `body` with the path of the directory, as the kernel knows it; nil if it is too long.
  private func withLinkTarget<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { bytes in
      guard let start = bytes.baseAddress else { return nil }
      let count = readlink("/proc/self/fd/\(descriptor)", start, bytes.count)
      guard count > 0, count < bytes.count else { return nil }
      return body(UnsafeRawBufferPointer(start: start, count: count))
    }
  }

  /// The directory of a run, `runs/<run>` in the state directory; nil if there is none.
  package func run(named name: String) -> RunDirectory? {
    openRun(name).map {
      RunDirectory(owning: $0, path: shown("runs/\(name)"), state: self)
    }
  }

  /// The directory of a recorded run. If somebody has removed it, it is made again, empty: a
  /// process that resumes the run reserves it there. Nil if that is not possible.
  package func keptRun(named name: String) -> RunDirectory? {
    if let run = run(named: name) { return run }
    guard Self.isRunName(name) else { return nil }
    for folder in ["runs", "runs/\(name)"] where mkdirat(descriptor, folder, 0o700) == 0 {
      // The caller's mask may have removed permissions.
      fchmodat(descriptor, folder, 0o700, 0)
    }
    return run(named: name)
  }

  /// The names in a directory within the state directory.
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

  /// Renames the directory of a run so that its name begins with a dot, and nobody takes it for
  /// that of a run: whatever happens then, `removeLeftovers` finds it. False, with `errno`, if it
  /// still has its own name.
  package func putRunAside(_ name: String) -> Bool {
    guard Self.isRunName(name) else { return false }
    return rename("runs/\(name)", to: "runs/.\(name)") || errno == ENOENT
  }

  /// Puts the directory of a run aside, then removes it with all files in it; false, with `errno`,
  /// if something of it is still there.
  package func removeRun(_ name: String) -> Bool {
    guard Self.isRunName(name) else { return false }
    return removeAnything(putRunAside(name) ? "runs/.\(name)" : "runs/\(name)")
  }

  /// Removes a directory with all that is in it, or another file of that name.
  private func removeAnything(_ name: String) -> Bool {
    unlinkat(descriptor, name, 0) == 0 || removeTree(name, in: descriptor)
  }

  /// Removes what earlier removals of runs have left, such as the directory of a file that somebody
  /// had open on NFS. Returns the runs of which something is still there, and why.
  package func removeLeftovers() -> [(run: String, error: Int32)] {
    names(in: "runs").compactMap { name in
      let run = String(name.dropFirst())
      guard name.hasPrefix("."), Self.isRunName(run),
        !removeAnything("runs/\(name)")
      else { return nil }
      let reason = errno
      // Another process may have removed it meanwhile.
      return faccessat(descriptor, "runs/\(name)", F_OK, AT_SYMLINK_NOFOLLOW) == 0
        ? (run, reason) : nil
    }
  }

  /// The total size in bytes of a run's logs and other files.
  package func size(ofRun name: String) -> Int {
    guard let run = openRun(name) else { return 0 }
    defer { close(run) }
    return sizeOfFiles(in: run)
  }

  /// The errno of an attempt to lock a file that is made for this and removed again; nil if it can be locked.
  private var triedLock: Int32? {
    let name = ".oprun-lock-\(randomName())"
    let file = openat(
      descriptor, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { return nil }
    defer { close(file) }
    let fault = ByteLock.fault(of: file)
    remove(name)
    return fault
  }

  private func openRun(_ name: String) -> Int32? {
    guard Self.isRunName(name) else { return nil }
    let run = openat(
      descriptor, "runs/\(name)", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    return run >= 0 ? run : nil
  }

  /// True for the form of a run's id: `20260402-101502-k3`.
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
