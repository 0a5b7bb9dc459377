// One request to a shared cache, and its response: kept in memory or in a file, and checked. It knows neither
// what comes before it nor what follows.

import Diagnostics
import Glibc

/// Why the server is of no use for a request.
struct SharedFailure: Error {
  let message: String
  /// True if the server only refuses what it is given, and may be read.
  var isRefusal = false
  /// True if a content of the server is not what its name says.
  var isDamage = false

  init(_ message: String, isRefusal: Bool = false, isDamage: Bool = false) {
    self.message = message
    self.isRefusal = isRefusal
    self.isDamage = isDamage
  }

  init(_ error: SystemError) { message = error.message }
}

/// The descriptor of the directory of the local cache, which oprun passes on.
private let cacheFolder: Int32 = 3

/// Receives a response.
final class SharedExchange: TransferReceiver, @unchecked Sendable {  // never leaves its thread
  let address: WebAddress
  /// The content that is received; nil for a response of which only the status matters.
  private let content: ReceivedContent?
  /// The largest size of a body in memory.
  private let memoryLimit: Int
  private let pace: SharedPace
  private(set) var latest = monotonicTime()
  private(set) var head = ResponseHead()
  private(set) var body: [UInt8] = []
  private(set) var failure: SharedFailure?
  private var ignoredCount = 0
  private var receivedCount = 0

  /// The size above which a page about an error is not read.
  private static let ignoredLimit = 64 << 10

  init(
    _ address: WebAddress, into content: ReceivedContent? = nil, memoryLimit: Int = 0,
    pace: SharedPace
  ) {
    self.address = address
    self.content = content
    self.memoryLimit = memoryLimit
    self.pace = pace
  }

  /// Called when bytes have moved.
  func note(_ byteCount: Int = 0) {
    latest = monotonicTime()
    pace.add(byteCount)
  }

  func mayConnect(to endpoint: Endpoint) -> Bool {
    note()
    return true
  }

  func take(headerLine: UnsafeRawBufferPointer) -> Bool {
    note()
    guard head.take(headerLine) else { return refuse("sends too many headers") }
    let isLast = headerLine.allSatisfy { $0 == 0x0d || $0 == 0x0a }
    guard isLast, head.status == 200, content != nil || memoryLimit > 0 else { return true }
    if let encoding = head.encoding {
      return refuse("sends content compressed with \(quoted(encoding)), which was not requested")
    }
    if let length = head.contentLength, length > limit { return refuseLength() }
    return true
  }

  private var limit: Int { content?.size ?? memoryLimit }

  func take(body bytes: UnsafeRawBufferPointer) -> Bool {
    note(bytes.count)
    guard head.status == 200, limit > 0 || content != nil else {
      ignoredCount += bytes.count
      return ignoredCount <= Self.ignoredLimit
    }
    receivedCount += bytes.count
    guard receivedCount <= limit else { return refuseLength() }
    guard let content else {
      body += bytes
      return true
    }
    do throws(SystemError) { try content.append(bytes) } catch {
      failure = SharedFailure(error)
      return false
    }
    return true
  }

  func hasReceived(_ byteCount: Int) -> Bool { true }

  private func refuseLength() -> Bool {
    refuse(
      "sends more than \(limit) bytes for \(quoted(address.path))", isDamage: content != nil)
  }

  private func refuse(_ message: String, isDamage: Bool = false) -> Bool {
    if failure == nil { failure = SharedFailure(message, isDamage: isDamage) }
    return false
  }
}

/// A content that is being received into the local cache.
final class ReceivedContent {
  let digest: Digest
  let size: Int
  private let name: String
  private let file: Int32
  private let hash = SHA256()
  private var isPlaced = false

  init(_ digest: Digest, size: Int) throws(SystemError) {
    self.digest = digest
    self.size = size
    // Processes of several containers may have the same number.
    name = "tmp-\(String(UInt64.random(in: 0 ... .max), radix: 16))-\(digest.hexadecimal)"
    file = openat(cacheFolder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw SystemError("cannot write to the cache", errno: errno) }
  }

  deinit {
    close(file)
    if !isPlaced { unlinkat(cacheFolder, name, 0) }
  }

  func append(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    hash.update(bytes)
    var rest = bytes
    while !rest.isEmpty {
      let count = write(file, rest.baseAddress, rest.count)
      if count > 0 {
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      } else if errno != EINTR {
        throw SystemError("cannot write to the cache", errno: errno)
      }
    }
  }

  /// Gives the content its name if it is what the name says.
  func place() throws(SharedFailure) {
    guard hash.finish() == digest else {
      throw SharedFailure(
        "sends something else for \(quoted("/cas/\(digest.hexadecimal)"))", isDamage: true)
    }
    let path = digest.cachePath
    mkdirat(cacheFolder, String(path.prefix(6)), 0o700)
    guard renameat(cacheFolder, name, cacheFolder, path) == 0 else {
      throw SharedFailure(SystemError("cannot write to the cache", errno: errno))
    }
    isPlaced = true
  }
}

/// A content of the cache that is sent, or bytes.
final class SentContent: TransferSource, @unchecked Sendable {  // never leaves its thread
  let size: Int
  /// Called with the size of each part that is read.
  var onRead: (Int) -> Void = { _ in }
  private let file: Int32
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    size = bytes.count
    file = -1
  }

  /// Opens a content of the cache; nil if it is not there.
  init?(_ digest: Digest) {
    file = openat(
      cacheFolder, digest.cachePath, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    bytes = []
    var status = stat()
    guard file >= 0, fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      if file >= 0 { close(file) }
      return nil
    }
    size = Int(status.st_size)
  }

  deinit { if file >= 0 { close(file) } }

  func read(_ buffer: UnsafeMutableRawBufferPointer) -> Int? {
    if file < 0 {
      let piece = bytes[position...].prefix(buffer.count)
      buffer.copyBytes(from: piece)
      position += piece.count
      onRead(piece.count)
      return piece.count
    }
    while true {
      let count = pread(file, buffer.baseAddress, buffer.count, off_t(position))
      if count >= 0 {
        position += count
        onRead(count)
        return count
      }
      if errno != EINTR { return nil }
    }
  }

  func rewind(to position: Int) { self.position = min(max(0, position), size) }
}

extension Digest {
  var isInCache: Bool { faccessat(cacheFolder, cachePath, F_OK, 0) == 0 }

  /// The path of a content of this digest in the directory of the cache.
  fileprivate var cachePath: String {
    let name = hexadecimal
    return "cas/\(name.prefix(2))/\(name.dropFirst(2))"
  }
}
