// `oprun init`: writes the first pipeline of a project.

import Diagnostics
import Expressions
import Glibc
import Reporting

extension Tool {
  func initialize(_ invocation: Invocation) -> Int32 {
    let path = invocation.operands.first ?? PipelineSearch.names[0]
    guard isPipelineName(path) else {
      say(
        "the name of a pipeline file ends with '.yml', found \(quoted(path))",
        help: "did you mean \(quoted(Self.pipelineName(for: path)))?")
      return ExitStatus.usage
    }
    let starter = Starter(read: Self.projectFile)
    if invocation.isOn(Options.preview) {
      output.write(starter.text)
      return ExitStatus.success
    }
    if invocation.operands.isEmpty,
      let existing = PipelineSearch.names.first(where: { access($0, F_OK) == 0 })
    {
      say("\(quoted(existing)) already exists", help: "name another file, or see 'oprun init -n'")
      return ExitStatus.usage
    }
    guard create(path, starter.text) else { return sayNoFile(path, errno) }
    let names = starter.kinds.map(\.name)
    let reason = names.isEmpty ? "with three sample steps" : "for \(inWords(names, last: "and"))"
    output.write("wrote \(pathAtLineStart(path)) \(reason)\n")
    let word = invocation.operands.isEmpty ? "" : " " + (wordForHelp(path) ?? "FILE")
    output.write("try 'oprun\(word) --dry-run', then 'oprun\(word)'\n")
    return ExitStatus.success
  }

  private func sayNoFile(_ path: String, _ number: Int32) -> Int32 {
    if number == EEXIST {
      say("\(quoted(path)) already exists", help: "name another file, or see 'oprun init -n'")
      return ExitStatus.usage
    }
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) }
    let isMissing = number == ENOENT && folder != nil
    say(
      "cannot write \(quoted(path)): \(SystemError.reason(number))",
      help: isMissing ? folder.map { "make the directory first: mkdir -p \(shellQuoted($0))" } : nil
    )
    return ExitStatus.cannotWrite
  }

  /// The path of the pipeline to write: `ci.yml` for `ci.txt` and `ci`; for a directory, the usual file in it.
  private static func pipelineName(for path: String) -> String {
    if access(path + "/.", F_OK) == 0 {
      return path + (path.hasSuffix("/") ? "" : "/") + PipelineSearch.names[0]
    }
    let name = path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex
    let dot = path[name...].dropFirst().lastIndex(of: ".") ?? path.endIndex
    return path[..<dot] + ".yml"
  }

  /// Makes a new file. False, with `errno`, if that fails; no partial file stays.
  private func create(_ path: String, _ text: String) -> Bool {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { return false }
    var text = text
    let isWritten = text.withUTF8 { Glibc.write(descriptor, $0.baseAddress, $0.count) == $0.count }
    let isClosed = close(descriptor) == 0
    if isWritten, isClosed { return true }
    let reason = errno
    unlink(path)
    errno = reason
    return false
  }

  /// The text of a file here, up to 1 MiB.
  static func projectFile(_ name: String) -> String? {
    let descriptor = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    let limit = 1 << 20
    let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
      count = max(0, Glibc.read(descriptor, buffer.baseAddress, limit))
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
