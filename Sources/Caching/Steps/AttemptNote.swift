// What an attempt of a cached step that has not succeeded has left in the place of the step's outputs. A command that looks
// at its outputs, such as make, would take a half-written file for a finished one, and the cache would keep it.
// docs/design-cache.md, "What failed attempts leave"

import Glibc
import Plans
import RunFiles

/// One small file for each step, in `cache/left`, from the beginning of an attempt until one has succeeded. Whoever has the
/// lock of the step reads and writes it. It is about files that the step's outputs name: of what is in a directory, or
/// matches a pattern, nobody knows who has made it.
struct AttemptNote: Equatable {
  /// The outputs as they were when the unfinished attempt began: absent, or those of an earlier result. Whatever is
  /// there later is the work of the step.
  var replaceable: [FileEntry] = []
  /// The outputs as they were then, if somebody else had made or edited them.
  var foreign: [FileEntry] = []
  /// The outputs that attempts have left, as they were when these ended.
  var left: [FileEntry] = []
  /// Files that attempts may have changed, and that others have made or edited, too.
  var doubtful: [FileEntry] = []
  /// True if an attempt has begun, and it is not known what was there then: its note was cut off.
  var isCutOff = false

  var isEmpty: Bool { self == AttemptNote() }
}

extension AttemptNote {
  /// The note of an attempt that begins now; removes what earlier ones have left. `known` is what the last result has.
  /// The paths are those of the output files.
  func next(_ paths: [String], known: [FileEntry], in directory: String) -> AttemptNote {
    var next = AttemptNote()
    lazy var results = Dictionary(known.map { (PathName($0.path), $0) }) { first, _ in first }
    // A file that is as it is recorded is that of a result.
    func isKnown(_ entry: FileEntry) -> Bool {
      results[PathName(entry.path)].map { $0.isSame(as: entry) } ?? false
    }
    // An attempt whose end nobody has seen: others may have worked on the files since.
    let unseen = (replaceable + foreign).compactMap { $0.changed(in: directory) }
    // Other rights or another number, as of a file that was copied back, make it no whole file.
    let moved = left.compactMap { old in
      old.changed(in: directory).flatMap { $0.hasSameContent(as: old) ? $0 : nil }
    }
    let stuck = left.filter { entry in
      !isKnown(entry) && entry.isThere(in: directory) && !entry.remove(in: directory)
    }
    next.doubtful = (doubtful + unseen + moved + stuck).filter { entry in
      !isKnown(entry) && entry.isThere(in: directory)
    }
    for entry in FileEntry.files(at: paths, in: directory) {
      if entry.kind == .absent || isKnown(entry) {
        next.replaceable.append(entry)
      } else {
        next.foreign.append(entry)
        if isCutOff { next.doubtful.append(entry) }
      }
    }
    return next
  }

  /// The note of the attempt now that it has ended without success.
  func failed(in directory: String) -> AttemptNote {
    var next = AttemptNote()
    next.left = left + replaceable.compactMap { $0.changed(in: directory) }
    next.doubtful =
      doubtful.filter { $0.isThere(in: directory) }
      + foreign.compactMap { $0.changed(in: directory) }
    return next
  }

  /// The note of an attempt that began more than once, now that it ends. What was not only its own was not removed in between,
  /// and may be what its first time has left.
  func begunAgain(in directory: String) -> AttemptNote {
    var next = self
    next.doubtful += foreign.compactMap { $0.changed(in: directory) }
    return next
  }

  /// Removes what the attempt has left, if that cannot be noted. What stays is doubtful by the older note.
  func removeLeft(in directory: String) {
    for entry in left where entry.isThere(in: directory) { _ = entry.remove(in: directory) }
  }

  /// The note of the attempt now that it has succeeded.
  func succeeded(in directory: String) -> AttemptNote {
    var next = AttemptNote()
    next.doubtful = doubtful.filter { $0.isThere(in: directory) }
    return next
  }
}

extension FileEntry {
  /// The entry of this path, which says if there is no file; nil if that is not known.
  fileprivate static func present(at path: String, in directory: String) -> FileEntry? {
    let place = directory.isEmpty ? path : joined(directory, path)
    switch status(of: place, in: AT_FDCWD) {
    case .success(let status):
      var entry = FileEntry(path, Kind(status.st_mode))
      entry.stamp = FileStamp(status)
      return entry
    case .failure(let failure): return failure.meansAbsent ? FileEntry(path, .absent) : nil
    }
  }

  /// The entries of these paths, as far as they are known; without directories.
  static func files(at paths: [String], in directory: String) -> [FileEntry] {
    paths.compactMap { FileEntry.present(at: $0, in: directory) }.filter { $0.kind != .directory }
  }

  /// Whether it is likely to be the same file, whose rights or place have changed.
  fileprivate func hasSameContent(as other: FileEntry) -> Bool {
    kind == other.kind && stamp.size == other.stamp.size
      && stamp.modified == other.stamp.modified
  }

  /// Whether both are the same state of one file.
  fileprivate func isSame(as other: FileEntry) -> Bool {
    kind == other.kind && (kind == .absent || stamp.isOfSameChange(as: other.stamp))
  }

  fileprivate func isThere(in directory: String) -> Bool {
    FileEntry.present(at: path, in: directory).map(isSame) ?? false
  }

  /// The other file that is in its place now; nil if it is still the same one, or there is no file.
  fileprivate func changed(in directory: String) -> FileEntry? {
    guard let now = FileEntry.present(at: path, in: directory), !isSame(as: now) else { return nil }
    return now.kind == .absent || now.kind == .directory ? nil : now
  }

  /// False if it stays. Behind a link lie files that are nobody's output.
  func remove(in directory: String) -> Bool {
    let root = open(directory.isEmpty ? "." : directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard root >= 0 else { return false }
    defer { close(root) }
    let (around, name) = OutputFolders.split(path)
    // The directory is open as long as these are there.
    return withExtendedLifetime(OutputFolders(root)) { folders in
      guard let folder = (try? folders.enter(around)) ?? nil else { return false }
      return unlinkat(folder, name, 0) == 0
    }
  }
}

// MARK: Storing

extension CacheFolder {
  static let leftName = "left"

  /// Nil if there is none.
  func note(named name: String) -> AttemptNote? {
    guard let bytes = read("\(Self.leftName)/\(name)") else { return nil }
    return AttemptNote(decoding: bytes) ?? .cutOff
  }

  /// Writes a note where it lies: the one at the end of an attempt needs no more space than that at its beginning. False if it
  /// is to be the first, and there is one.
  @discardableResult
  func write(
    _ note: AttemptNote, named name: String, isFirst: Bool = false
  ) throws(CacheFailure) -> Bool {
    let place = "\(Self.leftName)/\(name)"
    let flags =
      O_WRONLY | O_CREAT | (isFirst ? O_EXCL : 0) | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
    var file = openat(descriptor, place, flags, 0o600)
    if file < 0, errno == ENOENT {
      mkdirat(descriptor, Self.leftName, 0o700)
      file = openat(descriptor, place, flags, 0o600)
    }
    if file < 0, errno == EEXIST { return false }
    guard file >= 0 else { throw unwritable(errno) }
    defer { close(file) }
    let bytes = note.encoded
    guard writeFully(bytes, to: file), isFirst || ftruncate(file, off_t(bytes.count)) == 0 else {
      // The note is cut off now, which says that an attempt has begun.
      throw unwritable(errno)
    }
    return true
  }

  func removeNote(named name: String) { unlinkat(descriptor, "\(Self.leftName)/\(name)", 0) }
}

extension AttemptNote {
  private static let beginning: [UInt8] = Array("oprun left 1\n".utf8)

  static var cutOff: AttemptNote {
    var note = AttemptNote()
    note.isCutOff = true
    return note
  }

  /// The bytes, with a checksum at the end.
  var encoded: [UInt8] {
    var writer = ByteWriter()
    for entries in [replaceable, foreign, left, doubtful] {
      writer.add(entries) { $1.write(to: &$0) }
    }
    writer.add(writer.bytes.withUnsafeBytes { RecordSum.of($0) })
    return Self.beginning + writer.bytes
  }

  /// Nil if the bytes are damaged.
  init?(decoding bytes: [UInt8]) {
    let start = Self.beginning.count
    let end = bytes.count - 8
    guard bytes.starts(with: Self.beginning), end >= start else { return nil }
    var sum = ByteReader(bytes[end...])
    guard (try? sum.number()) == bytes[start..<end].withUnsafeBytes({ RecordSum.of($0) }) else {
      return nil
    }
    var reader = ByteReader(bytes[start..<end])
    do throws(ByteReadFailure) {
      replaceable = try reader.entries()
      foreign = try reader.entries()
      left = try reader.entries()
      doubtful = try reader.entries()
    } catch {
      return nil
    }
  }
}
