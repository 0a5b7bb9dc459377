// `.oprun/cache`: contents by their SHA-256 in `cas`, results by the keys of steps in `ac`. Everything is
// reached through one descriptor, written under another name first, and checked when it is read.

import Diagnostics
import Glibc
package import RunFiles

/// The open folder of the cache.
package final class CacheFolder {
  let descriptor: Int32
  /// The path for people.
  package let path: String
  /// The directory that no pattern looks into.
  let state: HiddenFolder?
  private var locks = StepLocks()
  /// The directory of the locks: the one that the cache is in, since the cache may be removed while runs use it. Otherwise two
  /// would have the lock of one step.
  private let lockPlace: Int32

  private init(owning descriptor: Int32, path: String, in state: StateFolder) {
    self.descriptor = descriptor
    self.path = path
    self.state = HiddenFolder(state.descriptor)
    lockPlace = fcntl(state.descriptor, F_DUPFD_CLOEXEC, 0)
  }

  deinit {
    close(descriptor)
    if lockPlace >= 0 { close(lockPlace) }
    locks.close()
  }

  /// Opens the cache in a state directory, and makes it if there is none.
  package static func make(in state: StateFolder) throws(CacheFailure) -> CacheFolder {
    mkdirat(state.descriptor, "cache", 0o700)
    let folder = try open(in: state)
    for name in ["cas", "ac"] where mkdirat(folder.descriptor, name, 0o700) != 0 && errno != EEXIST
    {
      throw CacheFailure(
        "cannot create \(quoted("\(folder.path)/\(name)")): \(SystemError.reason(errno))")
    }
    return folder
  }

  /// Opens the cache as it is.
  package static func open(in state: StateFolder) throws(CacheFailure) -> CacheFolder {
    let path = state.shown("cache")
    let folder = openat(
      state.descriptor, "cache", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard folder >= 0 else {
      throw CacheFailure("cannot open \(quoted(path)): \(SystemError.reason(errno))")
    }
    var status = stat()
    guard fstat(folder, &status) == 0, status.st_uid == geteuid(),
      status.st_mode & (S_IWGRP | S_IWOTH) == 0
    else {
      close(folder)
      throw CacheFailure("cannot use \(quoted(path)): others can write to it")
    }
    return CacheFolder(owning: folder, path: path, in: state)
  }

  /// Marks it as in use until the descriptor is closed, so that nothing in it is removed. While another process removes
  /// what is old, this is waited for, but not for ever; false if it takes longer.
  @discardableResult
  package func lockShared(patience: Int = 200) -> Bool {
    var tries = 0
    while !locks.share(in: lockPlace) {
      tries += 1
      if tries > patience { return false }
      usleep(10_000)
    }
    return true
  }

  /// Whether nobody else uses it, which is true from now on.
  func lockAlone() -> Bool { locks.takeAll(in: lockPlace) }

  /// Locks a step for this run, until it is unlocked or oprun has ended. False if another run has it.
  func lock(_ step: CacheDigest) -> Bool { locks.take(step, in: lockPlace) }

  func unlock(_ step: CacheDigest) { locks.giveBack(step) }

  /// The file of the locks, for processes that write outputs: if oprun is killed, its locks are free only when they have
  /// ended, too. Empty if there is none.
  var lockFile: [Int32] { locks.open(in: lockPlace) ? [locks.descriptor] : [] }

  // MARK: Contents

  /// Whether the content is there, undamaged: it is read.
  func holdsWhole(_ digest: CacheDigest) -> Bool {
    let content = open(digest)
    guard content >= 0 else { return false }
    defer { close(content) }
    if let noted = ContentSum.noted(of: content, named: digest) {
      let sum = ContentSum()
      return (try? FileCopy.read(content, "") { sum.add($0) }) != nil && sum.words == noted
    }
    return (try? FileCopy.digest(of: content, "")) == digest
  }

  /// False if the content is not there, or is not as long as it was, if that is known: it is not read.
  func mayHold(_ digest: CacheDigest, size: Int?) -> Bool {
    let found = self.size(of: digest)
    return found >= 0 && (size == nil || size == found)
  }

  /// The size of a content; -1 if it is not there.
  func size(of digest: CacheDigest) -> Int {
    var status = stat()
    guard fstatat(descriptor, "cas/\(digest.path)", &status, AT_SYMLINK_NOFOLLOW) == 0,
      status.st_mode & S_IFMT == S_IFREG
    else { return -1 }
    return Int(status.st_size)
  }

  /// Opens the content; -1 if it is not there.
  func open(_ digest: CacheDigest) -> Int32 {
    openat(
      descriptor, "cas/\(digest.path)", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
  }

  /// Removes content that is not what its name says.
  func drop(_ digest: CacheDigest) { unlinkat(descriptor, "cas/\(digest.path)", 0) }

  /// Keeps the content of an open file; returns its digest.
  func store(_ file: Int32, _ path: String) throws(CacheFailure) -> CacheDigest {
    let name = temporaryName
    let copy = openat(
      descriptor, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard copy >= 0 else { throw unwritable(errno) }
    defer { close(copy) }
    do throws(CacheFailure) {
      let (digest, sum) = try Self.copy(file, to: copy, path)
      sum.note(of: copy, named: digest)
      try place(name, at: "cas/\(digest.path)")
      return digest
    } catch {
      unlinkat(descriptor, name, 0)
      throw error
    }
  }

  /// Copies an open content; false if it is damaged.
  func copy(
    _ digest: CacheDigest, from content: Int32, to copy: Int32, _ path: String
  ) throws(CacheFailure) -> Bool {
    if let noted = ContentSum.noted(of: content, named: digest) {
      let sum = ContentSum()
      try FileCopy.copy(content, to: copy, path) { sum.add($0) }
      return sum.words == noted
    }
    let (found, sum) = try Self.copy(content, to: copy, path)
    guard found == digest else { return false }
    sum.note(of: content, named: digest)
    return true
  }

  private static func copy(
    _ file: Int32, to copy: Int32, _ path: String
  ) throws(CacheFailure) -> (CacheDigest, ContentSum) {
    var builder = DigestBuilder()
    let sum = ContentSum()
    try FileCopy.copy(file, to: copy, path) { piece in
      builder.addRaw(piece)
      sum.add(piece)
    }
    return (builder.finish(), sum)
  }

  // MARK: Results

  /// The result of a step; nil if it is not there, or damaged. A damaged one is reported, and removed, unless this is
  /// only a look.
  func result(
    of key: CacheDigest, onlyLooks: Bool = false, report: () -> Void = {}
  ) -> StoredResult? {
    let name = "ac/\(key.path)"
    guard let bytes = read(name) else { return nil }
    if let result = StoredResult(decoding: bytes, of: key) { return result }
    if !onlyLooks, unlinkat(descriptor, name, 0) == 0 { report() }
    return nil
  }

  func hasResult(of key: CacheDigest) -> Bool {
    faccessat(descriptor, "ac/\(key.path)", F_OK, 0) == 0
  }

  /// Says that a result is used, so that it is not the first to be removed.
  func touch(_ key: CacheDigest) { utimensat(descriptor, "ac/\(key.path)", nil, 0) }

  func drop(resultOf key: CacheDigest) { unlinkat(descriptor, "ac/\(key.path)", 0) }

  func write(_ result: StoredResult, of key: CacheDigest) throws(CacheFailure) {
    try write(result.encoded(of: key), to: "ac/\(key.path)")
  }

  // MARK: Files

  func write(_ bytes: [UInt8], to place: String) throws(CacheFailure) {
    let name = temporaryName
    let file = openat(
      descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw unwritable(errno) }
    defer { close(file) }
    guard writeFully(bytes, to: file) else {
      let failure = unwritable(errno)
      unlinkat(descriptor, name, 0)
      throw failure
    }
    try self.place(name, at: place)
  }

  /// The content of a file; nil if it is not there, or is no file of ours.
  func read(_ name: String) -> [UInt8]? {
    let file = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      status.st_uid == geteuid()
    else { return nil }
    return readFully(file, atMost: Int(status.st_size))
  }

  private var temporaryName: String { "tmp-" + randomName() }

  /// Gives a finished file its name; the directory that it belongs in is made when it is missing.
  private func place(_ name: String, at place: String) throws(CacheFailure) {
    if renameat(descriptor, name, descriptor, place) == 0 { return }
    if errno == ENOENT, let slash = place.lastIndex(of: "/") {
      mkdirat(descriptor, String(place[..<slash]), 0o700)
      if renameat(descriptor, name, descriptor, place) == 0 { return }
    }
    let failure = unwritable(errno)
    unlinkat(descriptor, name, 0)
    throw failure
  }

  func unwritable(_ number: Int32) -> CacheFailure {
    CacheFailure("cannot write to \(quoted(path)): \(SystemError.reason(number))")
  }
}
