// What a step made, as it is kept: the files by their digests, its outputs, its log.

import Plans

struct StoredResult: Hashable {
  /// The id of the step.
  var step = ""
  var files: [FileEntry] = []
  var published: [PublishedOutput] = []
  /// The log; nil if the command printed nothing, or too much.
  var log: CacheDigest?
  var logSize = 0

  /// The digests of its files and its log, each once.
  var contents: [CacheDigest] {
    var seen: Set<CacheDigest> = []
    let all = files.filter { $0.kind == .file }.map(\.digest) + (log.map { [$0] } ?? [])
    return all.filter { seen.insert($0).inserted }
  }

  private static let beginning: [UInt8] = Array("oprun result 2\n".utf8)

  /// The bytes, with a digest of them and of the key at the end: the result of one key is damaged in the place of another
  /// one.
  func encoded(of key: CacheDigest) -> [UInt8] {
    var writer = ByteWriter()
    write(to: &writer)
    var builder = DigestBuilder()
    builder.add(key)
    writer.bytes.withUnsafeBytes { builder.addRaw($0) }
    writer.add(builder.finish())
    return Self.beginning + writer.bytes
  }

  init() {}

  /// Nil if the bytes are damaged, or are those of another key.
  init?(decoding bytes: [UInt8], of key: CacheDigest) {
    let start = Self.beginning.count
    let end = bytes.count - CacheDigest.byteCount
    guard bytes.starts(with: Self.beginning), end >= start else { return nil }
    var builder = DigestBuilder()
    builder.add(key)
    bytes[start..<end].withUnsafeBytes { builder.addRaw($0) }
    var trailer = ByteReader(bytes[end...])
    guard let digest = try? trailer.digest(), digest == builder.finish() else { return nil }
    var reader = ByteReader(bytes[start..<end])
    guard let result = try? StoredResult(from: &reader) else { return nil }
    self = result
  }

  func write(to writer: inout ByteWriter) {
    writer.add(step)
    writer.add(files) { $1.write(to: &$0, withStamp: false) }
    writer.add(published) { writer, output in
      writer.add(output.name)
      writer.add(output.json)
    }
    writer.add(log ?? .none)
    writer.add(logSize)
  }

  init(from reader: inout ByteReader) throws(ByteReadFailure) {
    step = try reader.text()
    files = try reader.list(ofBytes: FileEntry.leastByteCount) { reader throws(ByteReadFailure) in
      try FileEntry(from: &reader, withStamp: false)
    }
    published = try reader.list(ofBytes: 16) { reader throws(ByteReadFailure) in
      PublishedOutput(name: try reader.text(), json: try reader.text())
    }
    let digest = try reader.digest()
    log = digest == .none ? nil : digest
    logSize = try reader.number()
  }
}
