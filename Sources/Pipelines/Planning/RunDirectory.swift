// Where a run keeps its files. The one place that turns an id into a path.

package import Scheduling

/// The folder of one run, `.oprun/runs/<run>`, and the names of the files in it.
package struct RunDirectory: Hashable, Sendable {
  /// Without a slash at the end; as given, or relative to where oprun was started.
  package let path: String

  package init(path: String) { self.path = path }

  /// The raw output of one command: `<step>.<attempt>.log`, `<step>.on_success.1.log`. A command
  /// that prints nothing leaves no log. Ids of steps hold no slash and do not start with a dot.
  package func log(of step: String, _ trial: Trial) -> String {
    file(step, trial, "log")
  }

  /// The file behind `OPRUN_OUTPUT`; it exists once the command writes to it.
  package func outputs(of step: String, _ trial: Trial) -> String {
    file(step, trial, "outputs")
  }

  private func file(_ step: String, _ trial: Trial, _ kind: String) -> String {
    let name = RunDirectory.fileName(of: step)
    return switch trial {
    case .attempt(let number): "\(path)/\(name).\(number).\(kind)"
    case .hook(let hook, let index): "\(path)/\(name).\(hook.key).\(index).\(kind)"
    case .probe(let index): "\(path)/\(name).wait_for.\(index).\(kind)"
    }
  }

  /// An id as a part of a file's name. Most are taken as they are; the slash of a nested step becomes
  /// `~`, and what else a matrix may bring that is no letter, digit or one of `_-=,.[]@` becomes `%`
  /// and two digits. What is too long for a file's name ends in a hash.
  static func fileName(of step: String) -> String {
    if step.utf8.count <= 128, step.utf8.allSatisfy(isPlainInFileName) { return step }
    var name = ""
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in step.utf8 {
      // FNV-1a.
      hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
      if byte == UInt8(ascii: "/") {
        name += "~"
      } else if isPlainInFileName(byte) {
        name.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        name += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
    }
    return name.utf8.count <= 200 ? name : name.prefix(180) + "~" + String(hash, radix: 16)
  }

  /// The step name in the logs of the run's own hooks; no step can have it.
  package static let runHookName = "@run"
}

extension HookKind {
  /// The key in the file: `on_success`.
  package var key: String {
    switch self {
    case .onSuccess: "on_success"
    case .onFailure: "on_failure"
    case .onCancel: "on_cancel"
    case .onComplete: "on_complete"
    }
  }
}

private func isPlainInFileName(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
    UInt8(ascii: "0")...UInt8(ascii: "9"):
    true
  default: "_-=,.[]@".utf8.contains(byte)
  }
}
