// Publishes outputs of a step to the pipeline: lines in the file that OPRUN_OUTPUT names.

import Diagnostics
import Glibc

struct StepOutputs {
  /// The maximum that oprun accepts from a step.
  static let byteLimit = 1 << 20

  private var lines = ""
  private(set) var leftOut: [String] = []

  /// Adds `name:json=…`, unless the file would become too large.
  mutating func add(_ name: String, json: String) {
    let line = "\(name):json=\(json)\n"
    if lines.utf8.count + line.utf8.count > Self.byteLimit - 4096 {
      leftOut.append(name)
    } else {
      lines += line
    }
  }

  /// Publishes the outputs; does nothing outside a pipeline.
  func publish() throws(SystemError) {
    guard let path = environmentValue("OPRUN_OUTPUT"), !path.isEmpty else { return }
    let file = try OpenFile(path, O_WRONLY | O_CREAT | O_APPEND)
    let bytes = Array(lines.utf8)
    let result = bytes.withUnsafeBytes { bytes in
      Result { () throws(SystemError) in try file.write(bytes) }
    }
    try result.get()
  }

  static func list(_ texts: [String]) -> String {
    "[\(texts.map(jsonString).joined(separator: ","))]"
  }
}
