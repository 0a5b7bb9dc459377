// What was written to a descriptor, as text.

import Foundation
import Reporting

/// The text that the body writes to a sink.
func written(_ body: (ByteSink) -> Void) throws -> String {
  let file = try TemporaryFile()
  let sink = ByteSink(descriptor: file.descriptor)
  body(sink)
  sink.flush()
  return file.text
}

/// A file that is removed when it is no longer used.
final class TemporaryFile {
  let path: String
  let descriptor: Int32
  private let handle: FileHandle

  init() throws {
    path = NSTemporaryDirectory() + "/reporting-\(UUID().uuidString)"
    try Data().write(to: URL(fileURLWithPath: path))
    handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    descriptor = handle.fileDescriptor
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  var text: String {
    let data = FileManager.default.contents(atPath: path) ?? Data()
    return String(decoding: data, as: UTF8.self)
  }
}
