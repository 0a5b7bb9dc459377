// The JSON manifest of a batch: one object for each item, in the order in which they were given.

import BuiltinSteps
import Diagnostics
import Glibc

struct Manifest {
  let step: BuiltinStep
  let items: [ItemResult]

  /// Unless one was given. Steps of a pipeline that write into one folder have one each.
  static func name(
    of step: BuiltinStep, environment: (String) -> String? = environmentValue
  ) -> String {
    let id = (environment("OPRUN_STEP") ?? "").utf8.prefix(150).map { byte in
      let isSafe = isalnum(Int32(byte)) != 0 && byte < 0x80 || "_.-".utf8.contains(byte)
      return Character(Unicode.Scalar(isSafe ? byte : UInt8(ascii: "_")))
    }
    return ".oprun-\(step.name)\(id.isEmpty ? "" : "-" + String(id)).json"
  }

  var text: String {
    let failedCount = items.count { $0.error != nil }
    let head = "\"version\":1,\"step\":\(jsonString(step.name)),\"failed\":\(failedCount)"
    let rows = items.map { "  " + object($0) }.joined(separator: ",\n")
    return "{\(head),\"items\":[\n\(rows)\n]}\n"
  }

  private func object(_ item: ItemResult) -> String {
    let files = item.files.map(object).joined(separator: ",")
    var fields = [
      "\"origin\":\(jsonString(item.origin))", "\"files\":[\(files)]",
      "\"bytes\":\(item.receivedByteCount)", "\"cached\":\(item.isCached)",
      "\"attempts\":\(item.attemptCount)", "\"milliseconds\":\(item.milliseconds)",
    ]
    if let note = item.note { fields.append("\"note\":\(jsonString(note))") }
    fields.append("\"error\":\(item.error.map(jsonString) ?? "null")")
    return "{\(fields.joined(separator: ","))}"
  }

  private func object(_ file: ItemFile) -> String {
    var fields = ["\"path\":\(jsonString(file.path))", "\"bytes\":\(file.byteCount)"]
    if let width = file.width { fields.append("\"width\":\(width)") }
    if let height = file.height { fields.append("\"height\":\(height)") }
    return "{\(fields.joined(separator: ","))}"
  }
}
