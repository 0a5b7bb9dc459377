// The questions to a process that reads and copies files, and its answers.

/// Work that takes longer than the loop of a run may stand still.
package enum CacheJob {
  /// Finds and hashes what a step reads.
  case inspect(directory: String, patterns: [String], known: [FileEntry])
  /// Runs a command and hashes what it prints.
  case tool(String, environment: [String])
  /// Makes the files of a result what they were.
  case restore(RestoreJob)
  /// Looks again at what the step reads, and keeps what it has made.
  case keep(KeepJob)
  /// Brings a result from the shared cache, if it is one of a step with these outputs.
  case fetch(CacheDigest, outputs: [String])
  /// Stores a result that the cache has in the shared one, if others take it from a step with these outputs.
  /// If it is to be replaced, the server has damaged contents of it.
  case store(CacheDigest, outputs: [String], replacing: Bool)
}

package struct RestoreJob {
  let directory: String
  /// The patterns of the outputs.
  let patterns: [String]
  /// The files of the result.
  let files: [FileEntry]
  /// The outputs, when they were looked at before.
  let known: [FileEntry]
}

package struct KeepJob {
  let directory: String
  let inputs: [String]
  let outputs: [String]
  /// The inputs, when they were looked at before.
  let known: [FileEntry]
  /// The path of the log; nil if there is none to keep.
  let log: String?
  /// When the command had ended, on the clock that files are stamped with.
  let end: Int
  /// The files that the step may have read without declaring them.
  var upstream = UpstreamCheck()
}

package enum CacheReply {
  case inspected([FileEntry])
  case tool(CacheDigest)
  /// The files with their stamps; nil if the cache does not have all of them. `damaged` is the path of a file whose content it
  /// had, but damaged.
  case restored([FileEntry]?, hasChanged: Bool, damaged: String? = nil)
  case kept(inputs: [FileEntry], outputs: [FileEntry], log: CacheDigest?, logSize: Int)
  case fault(CacheFailure)
  /// How a transfer ended.
  case transferred(SharedEnd)
}

extension CacheJob {
  var encoded: [UInt8] {
    var writer = ByteWriter()
    switch self {
    case .inspect(let directory, let patterns, let known):
      writer.add(UInt8(0))
      writer.add(directory)
      writer.add(patterns)
      writer.add(known) { $1.write(to: &$0) }
    case .tool(let command, let environment):
      writer.add(UInt8(1))
      writer.add(command)
      writer.add(environment)
    case .restore(let job):
      writer.add(UInt8(2))
      writer.add(job.directory)
      writer.add(job.patterns)
      writer.add(job.files) { $1.write(to: &$0) }
      writer.add(job.known) { $1.write(to: &$0) }
    case .keep(let job):
      writer.add(UInt8(3))
      writer.add(job.directory)
      writer.add(job.inputs)
      writer.add(job.outputs)
      writer.add(job.known) { $1.write(to: &$0) }
      writer.add(job.log ?? "")
      writer.add(job.end)
      job.upstream.write(to: &writer)
    case .fetch(let key, let outputs):
      writer.add(UInt8(4))
      writer.add(key)
      writer.add(outputs)
    case .store(let key, let outputs, let replacing):
      writer.add(UInt8(5))
      writer.add(key)
      writer.add(outputs)
      writer.add(replacing)
    }
    return writer.bytes
  }

  init(decoding bytes: [UInt8]) throws(ByteReadFailure) {
    var reader = ByteReader(bytes[...])
    switch try reader.byte() {
    case 0:
      self = .inspect(
        directory: try reader.text(), patterns: try reader.texts(), known: try reader.entries())
    case 1: self = .tool(try reader.text(), environment: try reader.texts())
    case 2:
      self = .restore(
        RestoreJob(
          directory: try reader.text(), patterns: try reader.texts(),
          files: try reader.entries(), known: try reader.entries()))
    case 4: self = .fetch(try reader.digest(), outputs: try reader.texts())
    case 5:
      self = .store(
        try reader.digest(), outputs: try reader.texts(), replacing: try reader.flag())
    default:
      let directory = try reader.text()
      let inputs = try reader.texts()
      let outputs = try reader.texts()
      let known = try reader.entries()
      let log = try reader.text()
      self = .keep(
        KeepJob(
          directory: directory, inputs: inputs, outputs: outputs, known: known,
          log: log.isEmpty ? nil : log, end: try reader.number(),
          upstream: try UpstreamCheck(from: &reader)))
    }
  }
}

extension CacheReply {
  var encoded: [UInt8] {
    var writer = ByteWriter()
    switch self {
    case .inspected(let entries):
      writer.add(UInt8(0))
      writer.add(entries) { $1.write(to: &$0) }
    case .tool(let digest):
      writer.add(UInt8(1))
      writer.add(digest)
    case .restored(let files, let hasChanged, let damaged):
      writer.add(UInt8(2))
      writer.add(files != nil)
      writer.add(files ?? []) { $1.write(to: &$0) }
      writer.add(hasChanged)
      writer.add(damaged ?? "")
    case .kept(let inputs, let outputs, let log, let size):
      writer.add(UInt8(3))
      writer.add(inputs) { $1.write(to: &$0) }
      writer.add(outputs) { $1.write(to: &$0) }
      writer.add(log ?? .none)
      writer.add(size)
    case .fault(let fault):
      writer.add(UInt8(4))
      writer.add(fault.message)
    case .transferred(let end):
      writer.add(UInt8(5))
      writer.add(end)
    }
    return writer.bytes
  }

  init(decoding bytes: ArraySlice<UInt8>) throws(ByteReadFailure) {
    var reader = ByteReader(bytes)
    switch try reader.byte() {
    case 0: self = .inspected(try reader.entries())
    case 1: self = .tool(try reader.digest())
    case 2:
      let isComplete = try reader.flag()
      let files = try reader.entries()
      let hasChanged = try reader.flag()
      let damaged = try reader.text()
      self = .restored(
        isComplete ? files : nil, hasChanged: hasChanged,
        damaged: damaged.isEmpty ? nil : damaged)
    case 3:
      let inputs = try reader.entries()
      let outputs = try reader.entries()
      let log = try reader.digest()
      self = .kept(
        inputs: inputs, outputs: outputs, log: log == .none ? nil : log,
        logSize: try reader.number())
    case 5: self = .transferred(try reader.sharedEnd())
    default: self = .fault(CacheFailure(try reader.text()))
    }
  }
}

extension ByteReader {
  mutating func entries() throws(ByteReadFailure) -> [FileEntry] {
    try list(ofBytes: FileEntry.leastByteCount) { reader throws(ByteReadFailure) in
      try FileEntry(from: &reader)
    }
  }
}
