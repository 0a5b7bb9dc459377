// The texts that spans point into: one number line, each file a stretch of it.

/// The files of a pipeline.
package struct SourceMap: Sendable {
  package struct File: Sendable {
    package let path: String
    package let bytes: [UInt8]
  }

  package private(set) var files: [File] = []

  package init() {}

  package mutating func add(path: String, bytes: [UInt8]) {
    files.append(File(path: path, bytes: bytes))
  }
}
