// What is kept is read as it was written, and damage is noticed.

import Foundation
import Plans
import Testing

@testable import Caching

struct StoredFormTests {
  static let entry: FileEntry = {
    var entry = FileEntry("a/ü b", .file)
    entry.stamp.size = 5
    entry.stamp.changed = 7
    entry.stamp.modified = -3
    entry.stamp.number = .max
    entry.stamp.device = 2
    entry.stamp.mode = 0o100755
    entry.digest = CacheDigest(of: "x")
    entry.isBehindLink = true
    return entry
  }()

  static let key = CacheDigest(of: "key")

  static let result: StoredResult = {
    var result = StoredResult()
    result.step = "build[os=linux]"
    var file = FileEntry("out", .file)
    file.stamp.mode = 0o100644
    var link = FileEntry("link", .link)
    link.target = "../out"
    result.files = [file, link]
    result.published = [PublishedOutput(name: "n", json: #"{"a":[1,null]}"#)]
    result.log = CacheDigest(of: "log")
    result.logSize = 3
    return result
  }()

  @Test func `an entry is read as it was written`() throws {
    var writer = ByteWriter()
    Self.entry.write(to: &writer)
    var reader = ByteReader(writer.bytes[...])
    #expect(try FileEntry(from: &reader) == Self.entry)
    #expect(reader.isAtEnd)
  }

  @Test func `a result is read as it was written`() {
    #expect(StoredResult(decoding: Self.result.encoded(of: Self.key), of: Self.key) == Self.result)
  }

  @Test func `the result of a key is none in the place of another one`() {
    let bytes = Self.result.encoded(of: Self.key)
    #expect(StoredResult(decoding: bytes, of: CacheDigest(of: "another")) == nil)
  }

  @Test func `every change of a byte, and every cut, is noticed`() {
    let bytes = Self.result.encoded(of: Self.key)
    for index in bytes.indices {
      var damaged = bytes
      damaged[index] ^= 0x41
      #expect(StoredResult(decoding: damaged, of: Self.key) == nil, "byte \(index)")
      #expect(
        StoredResult(decoding: Array(bytes[..<index]), of: Self.key) == nil, "the first \(index)")
    }
    #expect(StoredResult(decoding: bytes + [0], of: Self.key) == nil)
  }

  @Test func `damaged jobs and answers are refused, whatever they hold`() {
    let job = CacheJob.keep(
      KeepJob(
        directory: "d", inputs: ["a"], outputs: ["b"], known: [Self.entry], log: "l", end: 1,
        upstream: UpstreamCheck(
          workspace: "/w", scratch: ["c"],
          parts: [UpstreamCheck.Part(step: "s", directory: "d", entries: [1, 2])])))
    let bytes = job.encoded
    #expect((try? CacheJob(decoding: bytes)) != nil)
    for index in bytes.indices {
      _ = try? CacheJob(decoding: Array(bytes[..<index]))
      var damaged = bytes
      damaged[index] = 0xff
      _ = try? CacheJob(decoding: damaged)
      _ = try? CacheReply(decoding: damaged[...])
    }
  }

  @Test func `a digest is what sha256sum says, and is read again`() throws {
    let digest = CacheDigest(ofContent: "abc")
    #expect(
      digest.hexadecimal == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(CacheDigest(hexadecimal: digest.hexadecimal) == digest)
    #expect(digest.path.hasPrefix("ba/7816"))
    #expect(CacheDigest(hexadecimal: "xyz") == nil)
  }
}
