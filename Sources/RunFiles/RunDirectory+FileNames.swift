// The names of the files of a run. This is the only place that turns an id into a path: no two
// commands share a file, whatever their ids are.

package import Plans
import Scheduling

extension RunDirectory {
  /// The raw output of one command: `<step>.<attempt>.log`, `<step>.on_success.1.log`. A command
  /// that prints nothing leaves no log. Ids of steps do not start with a dot.
  package static func logName(of step: String, _ role: CommandRole) -> String {
    name(of: step, role, "log")
  }

  /// The file that `OPRUN_OUTPUT` names; it exists once the command writes to it.
  package static func outputsName(of step: String, _ role: CommandRole) -> String {
    name(of: step, role, "outputs")
  }

  /// Both names of one command.
  package static func fileNames(
    of step: String, _ role: CommandRole
  ) -> (log: String, outputs: String) {
    let start = nameStart(of: step, role)
    return (start + "log", start + "outputs")
  }

  /// The name of the pipe of the run's jobserver.
  package static let jobserverName = "jobserver"

  /// The step name in the logs of the run's own hooks; no step can have it.
  package static let runHookName = "@run"

  private static func name(of step: String, _ role: CommandRole, _ kind: String) -> String {
    nameStart(of: step, role) + kind
  }

  private static func nameStart(of step: String, _ role: CommandRole) -> String {
    var start = isFileName(step) ? step : fileName(of: step)
    start += "."
    start += role.name
    start += "."
    return start
  }
}

/// The longest name in bytes that is kept whole. A longer one is cut but stays longer than this, so
/// it is never the name of another id.
private let longestWholeName = 180
/// The length in bytes to which a name is cut; this leaves room for the rest of the name, which
/// Linux limits to 255 bytes.
private let cutLength = 142
/// The length of the digest: 160 bits in hexadecimal.
private let digestLength = 40

private func isFileName(_ id: String) -> Bool {
  id.utf8.count <= longestWholeName && !id.utf8.contains(where: isEscaped) && !endsLikeHook(id)
}

private func isEscaped(_ byte: UInt8) -> Bool {
  byte < 0x20 || byte == 0x7f || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "%")
}

/// True if an id ends like the name of a hook: `unit.on_failure` can be the id of a step, while a
/// hook of `unit` has its log in a file of that name.
private func endsLikeHook(_ id: String) -> Bool {
  guard let dot = id.utf8.lastIndex(of: UInt8(ascii: ".")) else { return false }
  let last = id.utf8[id.utf8.index(after: dot)...]
  return last.elementsEqual("wait_for".utf8)
    || HookKind.allCases.contains { last.elementsEqual($0.key.utf8) }
}

/// The id as it appears in file names. Ids of instances contain any text, those of steps of other
/// pipelines slashes: `deploy%2Fbuild`. Of a long one the start is kept, with a digest of the whole
/// id.
private func fileName(of id: String) -> String {
  let dot = endsLikeHook(id) ? id.utf8.lastIndex(of: UInt8(ascii: ".")) : nil
  var name = ""
  for index in id.unicodeScalars.indices {
    let scalar = id.unicodeScalars[index]
    if scalar.isASCII, isEscaped(UInt8(scalar.value)) || index == dot {
      let digits = String(scalar.value, radix: 16, uppercase: true)
      name += scalar.value < 16 ? "%0\(digits)" : "%\(digits)"
    } else {
      name.unicodeScalars.append(scalar)
    }
    if name.utf8.count > longestWholeName { return cut(name) + "~" + digest(of: id) }
  }
  return name
}

/// Returns at least the first `cutLength` bytes, in whole characters and escapes.
private func cut(_ name: String) -> String {
  let scalars = name.unicodeScalars
  var end = scalars.startIndex
  var length = 0
  while end < scalars.endIndex {
    let isEscape = scalars[end] == "%"
    if length >= cutLength { break }
    for _ in 0..<(isEscape ? 3 : 1) where end < scalars.endIndex {
      length += UTF8.width(scalars[end])
      end = scalars.index(after: end)
    }
  }
  return String(scalars[..<end])
}

private func digest(of id: String) -> String {
  let hexadecimal = sha256(of: Array(id.utf8)).map { byte in
    (byte < 16 ? "0" : "") + String(byte, radix: 16)
  }
  return String(hexadecimal.joined().prefix(digestLength))
}
