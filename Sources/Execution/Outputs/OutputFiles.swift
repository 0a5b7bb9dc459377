// Takes the files that commands may have written their outputs to. It knows no format.

import Diagnostics
import Glibc
import Pipelines
import Scheduling

struct OutputFiles: ~Copyable {
  private var changes: FolderChanges
  /// What `changes` had counted when the attempt of an operation started.
  private var countAtStart: [OperationID: Int] = [:]

  /// In the folder of the run, which is kept open if it may be: that saves a look for each file.
  init(folder: String, isKeptOpen: Bool) {
    changes = FolderChanges(path: isKeptOpen ? folder : nil)
  }

  mutating func attemptStarted(_ operation: OperationID) {
    countAtStart[operation] = changes.count
  }

  /// The outputs in the file, which is gone afterwards; nil if there are none. A file that cannot
  /// be used stays, to be looked at.
  mutating func take(
    of operation: OperationID, from path: @autoclosure () -> String,
    declared: [OutputDeclaration]?
  ) throws(OutputFault) -> ValueMap? {
    let countAtStart = countAtStart.removeValue(forKey: operation)
    changes.look()
    if countAtStart == changes.count { return nil }
    return try takeOutputs(from: path(), declared: declared)
  }
}

private func takeOutputs(
  from path: String, declared: [OutputDeclaration]?
) throws(OutputFault) -> ValueMap? {
  let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
  guard descriptor >= 0 else {
    if errno == ENOENT { return nil }
    // A link, which is not followed.
    if errno == ELOOP { throw notRegular }
    throw unreadable()
  }
  defer { close(descriptor) }
  let outputs = try readOutputs(try content(of: descriptor), declared: declared)
  unlink(path)
  return outputs.count > 0 ? outputs : nil
}

/// At most one byte more than is allowed.
private func content(of descriptor: Int32) throws(OutputFault) -> [UInt8] {
  var status = stat()
  guard fstat(descriptor, &status) == 0 else { throw unreadable() }
  guard status.st_mode & S_IFMT == S_IFREG else {
    throw notRegular
  }
  var bytes = [UInt8](
    repeating: 0, count: min(Int(status.st_size), OutputFile.byteLimit) + 1)
  var count = 0
  while count < bytes.count {
    let step = bytes.withUnsafeMutableBytes { buffer in
      read(descriptor, buffer.baseAddress.map { $0 + count }, buffer.count - count)
    }
    if step == 0 { break }
    if step > 0 { count += step } else if errno != EINTR { throw unreadable() }
  }
  bytes.removeLast(bytes.count - count)
  return bytes
}

private var notRegular: OutputFault {
  OutputFault(message: "OPRUN_OUTPUT is no regular file any more")
}

private func unreadable() -> OutputFault {
  OutputFault(message: "cannot read OPRUN_OUTPUT: \(SystemError.reason(errno))")
}
