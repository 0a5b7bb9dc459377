// Takes the files that commands may have written their outputs to. It knows no format.

import Diagnostics
import Expressions
import Glibc
import Plans
import RunFiles
import Scheduling

struct OutputFiles: ~Copyable {
  private let directory: RunDirectory
  private var changes: FolderChanges
  /// The count of `changes` when the attempt of an operation started.
  private var countAtStart: [OperationID: Int] = [:]

  init(in directory: RunDirectory) {
    self.directory = directory
    changes = FolderChanges(of: directory)
  }

  /// True if the directory was removed, as of the last check.
  var isFolderGone: Bool { changes.isFolderGone }

  /// Creates the file for a command that would otherwise create one that it cannot write to a
  /// second time.
  mutating func attemptStarted(_ operation: OperationID, name: @autoclosure () -> String) {
    countAtStart[operation] = changes.count
    if directory.mendsModes, let file = try? directory.make(name()) { close(file) }
  }

  /// Removes output files that commands have left behind, or wrote after they had ended.
  static func removeAll(in folder: String) {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0, let list = fdopendir(descriptor) else { return }
    defer { closedir(list) }
    while let entry = readdir(list) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { field in
        field.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name.hasSuffix(".outputs") { unlinkat(dirfd(list), name, 0) }
    }
  }

  /// The outputs in the file, which is removed; nil if there are none. A file that cannot be used
  /// stays, for inspection.
  mutating func take(
    of operation: OperationID, from name: @autoclosure () -> String,
    declared: [OutputDeclaration]?, isCaptured: Bool = false
  ) throws(OutputFailure) -> ValueMap? {
    let countAtStart = countAtStart.removeValue(forKey: operation)
    changes.look()
    if countAtStart == changes.count { return nil }
    return try takeOutputs(from: name(), in: directory) { bytes throws(OutputFailure) in
      isCaptured ? try readCapturedOutput(bytes) : try readOutputs(bytes, declared: declared)
    }
  }
}

private func takeOutputs(
  from name: String, in directory: RunDirectory,
  _ read: ([UInt8]) throws(OutputFailure) -> ValueMap
) throws(OutputFailure) -> ValueMap? {
  guard let bytes = try outputBytes(from: name, in: directory) else { return nil }
  let outputs = try read(bytes)
  directory.remove(name)
  return outputs.count > 0 ? outputs : nil
}

/// The bytes in the output file of a command; nil if there is no file.
func outputBytes(
  from name: String, in directory: RunDirectory
) throws(OutputFailure) -> [UInt8]? {
  let descriptor = directory.open(name)
  guard descriptor >= 0 else {
    switch errno {
    case ENOENT: return nil
    case ELOOP: throw notRegular(.link)
    case ENXIO: throw notRegular(.socket)
    default: throw unreadable()
    }
  }
  defer { close(descriptor) }
  return try content(of: descriptor)
}

/// The content, with at most one byte more than is allowed.
private func content(of descriptor: Int32) throws(OutputFailure) -> [UInt8] {
  var status = stat()
  guard fstat(descriptor, &status) == 0 else { throw unreadable() }
  let kind = FileKind(status.st_mode)
  guard kind == .regular else { throw notRegular(kind) }
  guard status.st_uid == geteuid() else { throw foreign(owner: status.st_uid) }
  guard status.st_nlink <= 1 else { throw linked(count: Int(status.st_nlink)) }
  let size = min(Int(status.st_size), OutputFile.byteLimit) + 1
  guard let bytes = readFully(descriptor, atMost: size) else { throw unreadable() }
  return bytes
}

private func notRegular(_ kind: FileKind) -> OutputFailure {
  OutputFailure(message: "OPRUN_OUTPUT is \(kind.words), wanted a regular file")
}

private func foreign(owner: uid_t) -> OutputFailure {
  OutputFailure(
    message: "OPRUN_OUTPUT belongs to \(userName(owner)), wanted a file of \(userName(geteuid()))")
}

/// The failure for a file with several links: reading and removing it here would leave the others.
private func linked(count: Int) -> OutputFailure {
  OutputFailure(message: "OPRUN_OUTPUT has \(count) names (hard links), wanted one")
}

private func unreadable() -> OutputFailure {
  OutputFailure(message: "cannot read OPRUN_OUTPUT: \(SystemError.reason(errno))")
}
