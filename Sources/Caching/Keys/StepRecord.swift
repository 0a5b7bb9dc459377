// A record of the last time that a step succeeded or was up to date, to see at once that nothing has changed, and to
// say what has.

import Plans

struct StepRecord {
  var parts: [KeyPart] = []
  var description = CacheDigest.none
  var inputs: [FileEntry] = []
  var key = CacheDigest.none
  /// The files of the result, with their stamps.
  var outputs: [FileEntry] = []
  var published: [PublishedOutput] = []
  var log: CacheDigest?
  var logSize = 0
  /// The day on which its use was noted in the cache.
  var day = 0

  init() {}

  func write(to writer: inout ByteWriter) {
    writer.add(description)
    writer.add(key)
    writer.add(day)
    writer.add(inputs) { $1.write(to: &$0) }
    writer.add(outputs) { $1.write(to: &$0) }
    writer.add(published) { writer, output in
      writer.add(output.name)
      writer.add(output.json)
    }
    writer.add(log ?? .none)
    writer.add(logSize)
    writer.add(parts) { writer, part in
      writer.add(part.kind.rawValue)
      writer.add(part.name)
      writer.add(part.value != nil)
      writer.add(part.value ?? "")
    }
  }

  init(from reader: inout ByteReader) throws(ByteReadFailure) {
    description = try reader.digest()
    key = try reader.digest()
    day = try reader.number()
    inputs = try reader.entries()
    outputs = try reader.entries()
    published = try reader.list { reader throws(ByteReadFailure) in
      PublishedOutput(name: try reader.text(), json: try reader.text())
    }
    let digest = try reader.digest()
    log = digest == .none ? nil : digest
    logSize = try reader.number()
    parts = try reader.list { reader throws(ByteReadFailure) in try KeyPart(from: &reader) }
  }
}

extension KeyPart {
  init(from reader: inout ByteReader) throws(ByteReadFailure) {
    guard let kind = Kind(rawValue: try reader.byte()) else { throw ByteReadFailure() }
    let name = try reader.text()
    let hasValue = try reader.flag()
    let value = try reader.text()
    self.init(kind, name, hasValue ? value : nil)
  }
}

/// A record that says that nothing has changed, as far as it is needed then.
struct UnchangedRecord {
  let log: CacheDigest?
  let publishesOutputs: Bool

  /// Compares a record in the index with what is there now. Nil if something differs, or cannot be told
  /// without more ado: then the record is read, and everything is looked at.
  init?(
    _ content: UnsafeRawBufferPointer, _ description: StepDescription, in directory: String,
    on today: Int
  ) {
    var cursor = RecordCursor(content)
    guard cursor.digest() != nil, cursor.digest() != nil, cursor.number() == today else {
      return nil
    }
    let files = cursor
    guard cursor.skipFiles(), cursor.skipFiles(), let outputCount = cursor.number(),
      outputCount >= 0
    else { return nil }
    for _ in 0..<outputCount {
      guard cursor.text() != nil, cursor.text() != nil else { return nil }
    }
    guard let log = cursor.digest(), cursor.number() != nil, description.equals(cursor.rest)
    else { return nil }
    cursor = files
    guard cursor.areFilesUnchanged(in: directory) == true,
      cursor.areFilesUnchanged(in: directory) == true
    else { return nil }
    self.log = log == .none ? nil : log
    publishesOutputs = outputCount > 0
  }

  /// The part of a record that lists its inputs and outputs; nil if the record is damaged.
  static func files(in content: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    var cursor = RecordCursor(content)
    guard cursor.digest() != nil, cursor.digest() != nil, cursor.number() != nil else { return nil }
    let start = cursor.rest
    guard cursor.skipFiles(), cursor.skipFiles() else { return nil }
    return UnsafeRawBufferPointer(rebasing: start.dropLast(cursor.rest.count))
  }
}

extension StepRecord {
  func result(of step: String) -> StoredResult {
    var result = StoredResult()
    result.step = step
    result.files = outputs
    result.published = published
    result.log = log
    result.logSize = logSize
    return result
  }
}
