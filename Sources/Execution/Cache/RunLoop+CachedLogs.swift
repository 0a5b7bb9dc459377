// The logs of steps that are up to date, shown again on request.

import Caching
import Diagnostics
import Glibc
import Masking
import Plans
import RunFiles
import Running
import Scheduling

extension RunLoop {
  /// Gives a step that does not run the log of the run in which it ran: whoever shows its end shows
  /// that, too. A log that cannot be read or written is not shown.
  func showAgain(_ log: CacheDigest?, of operation: OperationID) {
    guard options.showsCached, let log, let caching, let text = caching.cache.text(of: log) else {
      return
    }
    let role = CommandRole.attempt(1)
    let key = CommandKey(operation: operation, role: role)
    let name = builder.logName(of: key, step: machine.steps[operation].id)
    let bytes = masked(text)
    guard let descriptor = try? options.directory.make(name) else { return }
    let file = LogFile(owning: descriptor)
    guard writeFully(bytes, to: file.descriptor, at: 0) else { return }
    options.directory.logs.add(file, of: operation, role)
  }

  /// Removes the log of the step. Called when its end has been reported.
  func closeShownAgain(_ operation: OperationID) {
    if options.showsCached { options.directory.logs.remove(of: operation, .attempt(1)) }
  }

  /// The text with its secrets masked: what was no secret when it was written may be one now.
  private func masked(_ text: [UInt8]) -> [UInt8] {
    guard let masker else { return text }
    var stream = MaskingStream(masker)
    var result: [UInt8] = []
    text.withUnsafeBytes { stream.mask($0, into: &result) }
    stream.finish(into: &result)
    return result
  }
}
