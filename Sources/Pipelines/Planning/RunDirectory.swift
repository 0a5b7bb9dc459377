// Where a run keeps its files. The one place that turns an id into a path.

package import Scheduling

/// The folder of one run, `.oprun/runs/<run>`, and the names of the files in it.
package struct RunDirectory: Hashable, Sendable {
  /// Without a slash at the end; as given, or relative to where oprun was started.
  package let path: String

  package init(path: String) { self.path = path }

  /// The raw output of one command: `<step>.<attempt>.log`, `<step>.on_success.1.log`. A command
  /// that prints nothing leaves no log. Ids of steps do not start with a dot.
  package func log(of step: String, _ trial: Trial) -> String {
    file(step, trial, "log")
  }

  /// The file behind `OPRUN_OUTPUT`; it exists once the command writes to it.
  package func outputs(of step: String, _ trial: Trial) -> String {
    file(step, trial, "outputs")
  }

  private func file(_ step: String, _ trial: Trial, _ kind: String) -> String {
    let name = isFileName(step) ? step : fileName(of: step)
    return switch trial {
    case .attempt(let number): "\(path)/\(name).\(number).\(kind)"
    case .hook(let hook, let index): "\(path)/\(name).\(hook.key).\(index).\(kind)"
    case .probe(let index): "\(path)/\(name).wait_for.\(index).\(kind)"
    }
  }

  /// The step name in the logs of the run's own hooks; no step can have it.
  package static let runHookName = "@run"
}

/// Leaves room for what follows in a name, which Linux limits to 255 bytes.
private let longestName = 200

private func isFileName(_ id: String) -> Bool {
  id.utf8.count <= longestName && !id.utf8.contains(where: isEscaped)
}

private func isEscaped(_ byte: UInt8) -> Bool {
  byte < 0x20 || byte == 0x7f || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "%")
}

/// Ids of instances hold any text, those of steps of other pipelines slashes: `deploy%2Fbuild`. Of
/// a long one the start is kept, and a number made of all of it.
private func fileName(of id: String) -> String {
  var name = ""
  var hash: UInt64 = 0xcbf2_9ce4_8422_2325  // FNV-1a
  for byte in id.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
  for scalar in id.unicodeScalars {
    if name.utf8.count > longestName - 20 {
      return name + "~" + String(hash, radix: 16)
    }
    if scalar.isASCII, isEscaped(UInt8(scalar.value)) {
      let digits = String(scalar.value, radix: 16, uppercase: true)
      name += scalar.value < 16 ? "%0\(digits)" : "%\(digits)"
    } else {
      name.unicodeScalars.append(scalar)
    }
  }
  return name
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
