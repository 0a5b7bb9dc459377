// A content that is put back is what was stored, whether its checksum was kept beside it or not.

import CLinux
import Foundation
import RunFiles
import Testing

@testable import Caching

/// A cache with one content in it.
private final class StoredContent {
  let folder = FileManager.default.temporaryDirectory.path + "/content-\(UUID().uuidString)"
  let cache: CacheFolder
  let digest: CacheDigest
  private(set) var bytes: [UInt8]

  init(size: Int) throws {
    bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    cache = try CacheFolder.make(
      in: StateFolder(owning: open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), path: folder))
    try Data(bytes).write(to: URL(fileURLWithPath: "\(folder)/file"))
    let file = open("\(folder)/file", O_RDONLY)
    defer { close(file) }
    digest = try cache.store(file, "file")
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  private var path: String { "\(folder)/cache/cas/\(digest.path)" }

  var isNoted: Bool {
    let content = cache.open(digest)
    defer { close(content) }
    return ContentSum.noted(of: content, named: digest) != nil
  }

  func forget() throws { try #require(removexattr(path, "user.oprun.sum") == 0) }

  func damage(at place: Int) throws {
    let file = open(path, O_WRONLY)
    defer { close(file) }
    try #require(pwrite(file, [bytes[place] ^ 1], 1, off_t(place)) == 1)
  }

  func truncate(to size: Int) throws { try #require(Glibc.truncate(path, off_t(size)) == 0) }

  /// Whether it is put back as it was; nil if it is refused.
  func isPutBack() throws -> Bool? {
    let content = cache.open(digest)
    let copy = open("\(folder)/copy", O_RDWR | O_CREAT | O_TRUNC, 0o600)
    defer {
      close(content)
      close(copy)
    }
    guard try cache.copy(digest, from: content, to: copy, "copy") else { return nil }
    return try Data(contentsOf: URL(fileURLWithPath: "\(folder)/copy")) == Data(bytes)
  }
}

struct ContentSumTests {
  /// More than a piece that is read at once, and less.
  static let sizes = [1 << 14, 1 << 18, 700_001]

  @Test(arguments: sizes)
  func `a content is put back, with its checksum and without`(size: Int) throws {
    let stored = try StoredContent(size: size)
    #expect(stored.isNoted)
    #expect(try stored.isPutBack() == true)
    try stored.forget()
    #expect(!stored.isNoted)
    #expect(try stored.isPutBack() == true)
    // Computed with the SHA-256, for the next time.
    #expect(stored.isNoted)
    #expect(try stored.isPutBack() == true)
  }

  @Test(arguments: sizes)
  func `a bit that was lost is noticed, with a checksum and without`(size: Int) throws {
    for place in [0, size / 2, size - 1] {
      let stored = try StoredContent(size: size)
      try stored.damage(at: place)
      #expect(stored.isNoted)
      #expect(try stored.isPutBack() == nil)
      try stored.forget()
      #expect(try stored.isPutBack() == nil)
      #expect(!stored.isNoted)
    }
  }

  @Test(arguments: [0, 1, 1 << 17])
  func `an end that was lost is noticed`(size: Int) throws {
    let stored = try StoredContent(size: 1 << 18)
    try stored.truncate(to: size)
    #expect(try stored.isPutBack() == nil)
  }

  @Test func `what is short has none`() throws {
    let stored = try StoredContent(size: 1 << 10)
    #expect(!stored.isNoted)
    #expect(try stored.isPutBack() == true)
    try stored.damage(at: 1000)
    #expect(try stored.isPutBack() == nil)
  }

  @Test func `a content that is not as long as the file was cannot be put back`() throws {
    let content = try StoredContent(size: 100)
    let (cache, digest) = (content.cache, content.digest)
    #expect(cache.mayHold(digest, size: 100))
    try content.truncate(to: 50)
    #expect(!cache.mayHold(digest, size: 100))
    #expect(cache.mayHold(digest, size: nil), "how long the file was is not known")
    cache.drop(digest)
    #expect(!cache.mayHold(digest, size: nil))
  }
}
