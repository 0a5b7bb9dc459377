// The JSON manifest of a batch: one object for each item, in the order in which they were given.

import BuiltinSteps
import Diagnostics
import Glibc

struct Manifest {
  let step: BuiltinStep
  let items: [ItemResult]

  /// The default name. Steps of a pipeline that write into the same directory have one each; `id` is
  /// the step's, and if a file name cannot contain it, its hash distinguishes it.
  static func name(of step: BuiltinStep, id: String? = pipelineStep) -> String {
    guard let id, !id.isEmpty else { return ".oprun-\(step.name).json" }
    let safe = id.unicodeScalars.prefix(100).map { scalar in
      let isSafe =
        scalar.isASCII && scalar.properties.isAlphabetic
        || "0123456789_.-".unicodeScalars.contains(scalar)
      return isSafe ? Character(scalar) : "_"
    }
    let mark = String(safe) == id ? "" : "-" + SHA256.hash(id).hexadecimal.prefix(8)
    return ".oprun-\(step.name)-\(String(safe))\(mark).json"
  }

  /// The id of the step that this program performs, from `oprun`.
  private static var pipelineStep: String? { environmentValue("OPRUN_STEP") }

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
