// The end of a batch: the table, the manifest, the outputs, the exit status.

import BuiltinSteps
import Diagnostics

/// What happens to a step in which an item failed.
enum ItemFailurePolicy: String, Sendable { case fail, skip }

extension Program {
  /// Ends the batch and returns the exit status. `folder` is the directory of the manifest unless
  /// another location was given: "" or with a slash at its end.
  func end(_ inputs: Inputs, _ table: BatchTable, folder: String) -> Int32 {
    output.write(table.text)
    let items = table.items
    let manifest = inputs.text("manifest") ?? folder + Manifest.name(of: inputs.step)
    do throws(SystemError) {
      try Files.makeFolder(of: manifest)
      try Files.write(Manifest(step: inputs.step, items: items).text, to: manifest)
      try publish(items, manifest: manifest)
    } catch {
      say(error.message)
      return ExitStatus.failure
    }
    let policy: ItemFailurePolicy = inputs.choice("on_item_failure")
    let hasFailed = items.contains { $0.error != nil }
    return hasFailed && policy == .fail ? ExitStatus.failure : ExitStatus.success
  }

  /// Checks, before anything is done, whether the manifest can have the given name: it must not
  /// replace the list, nor other files that are read or written.
  func checkManifest(
    _ inputs: Inputs, besides files: @autoclosure () -> [String]
  ) throws(UsageFailure) {
    guard let path = inputs.text("manifest") else { return }
    do throws(SystemError) { try Files.checkReplaceable(path) } catch {
      throw UsageFailure("the manifest: \(error.message)", step: inputs.step.name)
    }
    let list = inputs.step.key("list") == nil ? nil : inputs.text("list")
    let (key, replaced) = (PathKey(path), FileIdentity(replacedAt: path))
    let other = ([list].compactMap { $0 } + files()).first { file in
      PathKey(file) == key || replaced != nil && FileIdentity(readAt: file) == replaced
    }
    if let other { throw .manifestReplaces(path, ByteText.shown(other), inputs.step) }
  }

  private func publish(_ items: [ItemResult], manifest: String) throws(SystemError) {
    var outputs = StepOutputs()
    outputs.add("manifest", json: jsonString(manifest))
    outputs.add("failed", json: StepOutputs.list(items.filter { $0.error != nil }.map(\.origin)))
    outputs.add("files", json: StepOutputs.list(items.flatMap { $0.files.map(\.path) }))
    if !outputs.leftOut.isEmpty {
      let names = inWords(outputs.leftOut.map(quoted), last: "and")
      say("too long to be outputs of a step, see '\(manifest)': \(names)")
    }
    try outputs.publish()
  }

  func say(_ message: String) { errors.write("\(BuiltinStep.program): \(message)\n") }
}
