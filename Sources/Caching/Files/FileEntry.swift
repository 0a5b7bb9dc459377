// The properties of one file that a step reads or makes.

import CLinux
import Glibc
import Plans

/// The attributes that tell whether a file is the same, without reading it. A change that leaves all of them as they
/// were is possible only within one tick of the clock that files are stamped with, which `isSettled` excludes.
struct FileStamp: Hashable {
  var size = 0
  var changed = 0
  var modified = 0
  var number = 0
  var device = 0
  var mode = 0

  static let unknown = FileStamp()

  init() {}

  init(_ status: stat) {
    size = Int(status.st_size)
    changed = Self.nanoseconds(status.st_ctim)
    modified = Self.nanoseconds(status.st_mtim)
    number = Int(bitPattern: UInt(status.st_ino))
    device = Int(bitPattern: UInt(status.st_dev))
    mode = Int(status.st_mode)
  }

  /// Whether a change after `moment`, when the stamp was seen, gives another stamp: the last change was
  /// more than a tick before, or more than two seconds, the coarsest stamps there are (FAT), if it may be
  /// rounded.
  func isSettled(at moment: Int) -> Bool {
    let needed = changed % 1_000_000_000 == 0 ? 3_000_000_000 : 20_000_000
    // A stamp in the future says nothing. That of the last modification may be anything that somebody has set.
    return changed <= moment - needed
  }

  /// Makes it one that no file has, so that the file is read the next time. Its size can still be told.
  mutating func distrust() { if isTrusted { size = ~size } }

  var isTrusted: Bool { size >= 0 }

  /// The size of the file in bytes, also if the stamp is not trusted.
  private var knownSize: Int { isTrusted ? size : ~size }

  /// Whether something was done to the file after `moment`. A stamp in the future says nothing: it comes from another
  /// clock.
  func isOfChange(after moment: Int) -> Bool { changed > moment && changed <= Self.exactNow }

  /// Whether nothing has been done to the file between two stamps, settled or not. While Linux truncates a file, for
  /// milliseconds on a busy machine, its size is already 0 and its times are still the old ones.
  func isOfSameChange(as other: FileStamp) -> Bool {
    changed == other.changed && modified == other.modified && number == other.number
      && device == other.device && knownSize == other.knownSize
  }

  /// The time that files are stamped with.
  static var now: Int { time(of: CLOCK_REALTIME_COARSE) }

  /// The same to the nanosecond: no file has a later stamp, unless its file system has another clock.
  static var exactNow: Int { time(of: CLOCK_REALTIME) }

  private static func time(of clock: clockid_t) -> Int {
    var time = timespec()
    clock_gettime(clock, &time)
    return nanoseconds(time)
  }

  private static func nanoseconds(_ time: timespec) -> Int {
    time.tv_sec.multipliedReportingOverflow(by: 1_000_000_000).partialValue &+ time.tv_nsec
  }
}

/// A file, a link, a directory, or that there is none.
package struct FileEntry: Hashable {
  enum Kind: UInt8 {
    case absent, file, link, directory
    /// A device, a socket or a FIFO, which is never read.
    case special
  }

  /// Relative to the directory of the step, or absolute.
  let path: String
  var kind: Kind
  /// True for what a link leads to.
  var isBehindLink = false
  /// True for a directory of which only the names in it matter.
  var isOnlyListed = false
  var stamp = FileStamp.unknown
  var digest = CacheDigest.none
  /// The target of a link.
  var target = ""

  init(_ path: String, _ kind: Kind) {
    self.path = path
    self.kind = kind
  }

  package static func == (left: Self, right: Self) -> Bool {
    left.path.hasSameBytes(as: right.path) && left.kind == right.kind
      && left.isBehindLink == right.isBehindLink && left.isOnlyListed == right.isOnlyListed
      && left.stamp == right.stamp && left.digest == right.digest
      && left.target.hasSameBytes(as: right.target)
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combineBytes(of: path)
    hasher.combine(stamp)
    hasher.combine(digest)
  }

  func moved(to path: String) -> FileEntry {
    var entry = FileEntry(path, kind)
    entry.stamp = stamp
    entry.digest = digest
    entry.target = target
    return entry
  }

  var permissions: mode_t { mode_t(stamp.mode & 0o7777) }

  var isExecutable: Bool { permissions & S_IXUSR != 0 }

  /// Adds everything about it on which the result of a step may depend.
  func add(to builder: inout DigestBuilder) {
    builder.add(path)
    builder.add(Int(kind.rawValue) + (isBehindLink ? 16 : 0))
    switch kind {
    case .file:
      builder.add(digest)
      builder.add(isExecutable ? 1 : 0)
    case .link: builder.add(target)
    case .absent, .directory, .special: break
    }
  }

  /// The same with the permissions, which a result has.
  func addAsResult(to builder: inout DigestBuilder) {
    add(to: &builder)
    if kind != .link { builder.add(Int(permissions)) }
  }

  /// The attributes of the file as the kernel gives them now, or the errno.
  static func status(
    of path: String, in folder: Int32, followsLinks: Bool = false
  ) -> Result<stat, FileStatusFailure> {
    var status = stat()
    let flags = followsLinks ? 0 : AT_SYMLINK_NOFOLLOW
    guard fstatat(folder, path, &status, flags) == 0 else {
      return .failure(FileStatusFailure(errno))
    }
    return .success(status)
  }
}

extension FileEntry {
  /// Whether nothing has been done to the file since it was looked at, settled or not. Of directories that are only
  /// looked through, the names may be others. The directory is that of the step; "" where oprun was started.
  func isOfSameChange(in directory: String) -> Bool {
    let place = directory.isEmpty ? path : joined(directory, path)
    switch Self.status(of: place, in: AT_FDCWD, followsLinks: isBehindLink) {
    case .success(let status): return kind != .absent && FileStamp(status).isOfSameChange(as: stamp)
    case .failure(let error): return kind == .absent && error.meansAbsent
    }
  }
}

struct FileStatusFailure: Error {
  let number: Int32

  init(_ number: Int32) { self.number = number }

  var meansAbsent: Bool { [ENOENT, ENOTDIR, ELOOP].contains(number) }
}

extension FileEntry.Kind {
  init(_ mode: mode_t) {
    switch mode & S_IFMT {
    case S_IFREG: self = .file
    case S_IFLNK: self = .link
    case S_IFDIR: self = .directory
    default: self = .special
    }
  }
}

extension FileEntry {
  func write(to writer: inout ByteWriter, withStamp: Bool = true) {
    writer.add(path)
    writer.add(kind.rawValue)
    writer.add(UInt8((isBehindLink ? 1 : 0) + (isOnlyListed ? 2 : 0)))
    writer.add(stamp.mode)
    if withStamp {
      for number in [stamp.size, stamp.changed, stamp.modified, stamp.number, stamp.device] {
        writer.add(number)
      }
    }
    writer.add(digest)
    writer.add(target)
  }

  /// The size of the shortest entry, without a stamp: two texts, the kind, the flags, the mode, the digest.
  static let leastByteCount = 8 + 1 + 1 + 8 + CacheDigest.byteCount + 8

  init(from reader: inout ByteReader, withStamp: Bool = true) throws(ByteReadFailure) {
    path = try reader.text()
    guard let kind = Kind(rawValue: try reader.byte()) else { throw ByteReadFailure() }
    self.kind = kind
    let flags = try reader.byte()
    isBehindLink = flags & 1 != 0
    isOnlyListed = flags & 2 != 0
    stamp.mode = try reader.number()
    if withStamp {
      stamp.size = try reader.number()
      stamp.changed = try reader.number()
      stamp.modified = try reader.number()
      stamp.number = try reader.number()
      stamp.device = try reader.number()
    }
    digest = try reader.digest()
    target = try reader.text()
  }
}
