// The short way for plain scripts against the scanner: both must say the same.

import Testing

@testable import Pipelines

@Suite struct `Plain scripts` {
  private static let names = [
    "echo", "make", "./run.sh", "declare", "eval", "test", "[", "case", "if", "a=b", "export",
    "printf", "/bin/sh", "/usr/bin/env", "docker", "cd", "set", "function", "coproc", "2",
    "swift", "env", "for", "read", "sudo", "true", "\u{1}", "x", "\"x\"", "exit", "[[",
  ]
  private static let parts = [
    "a", "-n", "--b=c", "1", "/x.y", "@", "in", "a:b", "x,y", "%", "+", "in", "-eq", "a=", "\u{1}",
    "\u{1}z", "bash", "-c", "q\u{1}", "=\u{1}", "-\u{1}", "su", "busybox", "bash/", "bash///",
    "s/h", "declare",
    "-i", "integer", "a=\u{1}", "UID=\u{1}", "\"\u{1}\"", "'\u{1}'", "\"b c\"", "'ba'sh", "\"-c\"",
    "\"it's \u{1}\"", "x\"y\"\u{1}", "'\n\u{1}'", "\"sh\"", "'a[\u{1}]'", "'$\u{1}`\\'", "\"$x\"",
    "> \u{1}", ">\u{1}", ">> log", "2>&1", "\u{1}>x", "2>\u{1}", ">&2", ">|x", "x>y", "&>x",
    "1>&\u{1}",
    "<x", "<<x", ">(x)", "1\u{1}>x",
  ]
  private static let separators = [
    "\n", "; ", " && ", " | ", "&", "|", ";", "\n\n", " ;; ", " || ", "\n  ", " |& ",
  ]

  /// The control character stands for a value.
  private func marked(_ text: String) -> [UInt8] {
    text.utf8.map { $0 == 1 ? valueMark : $0 }
  }

  private func quotedValues(_ text: String) -> UInt64? {
    let bytes = Array(text.utf8)
    var parts: [Template.Part] = []
    var start = 0
    for (place, byte) in bytes.enumerated() where byte == 1 {
      if start < place { parts.append(Template.literal(start..<place)) }
      parts.append(Template.Part(start: UInt32(place), end: UInt32(place + 1), base: 0, root: 0))
      start = place + 1
    }
    if start < bytes.count { parts.append(Template.literal(start..<bytes.count)) }
    return PlainScript.quotedValues(bytes[...], parts)
  }

  private func randomCommand(_ random: inout some RandomNumberGenerator) -> String {
    var words = [Self.names.randomElement(using: &random) ?? ""]
    for _ in 0..<Int.random(in: 0..<6, using: &random) {
      words.append(Self.parts.randomElement(using: &random) ?? "")
    }
    return words.joined(separator: [" ", "  ", "\t"].randomElement(using: &random) ?? "")
  }

  @Test func `what is taken for plain is plain to the scanner too`() {
    var random = SystemRandomNumberGenerator()
    var plainCount = 0
    var quotedCount = 0
    for _ in 0..<20_000 {
      var script = randomCommand(&random)
      for _ in 0..<Int.random(in: 0..<4, using: &random) {
        script += Self.separators.randomElement(using: &random) ?? ""
        script += randomCommand(&random)
      }
      guard let quoted = quotedValues(script) else { continue }
      let text = marked(script)
      let valueCount = text.count { $0 == valueMark }
      if valueCount > 0 { plainCount += 1 }
      if quoted != 0 { quotedCount += 1 }
      var scanner = ShellScanner(text)
      scanner.scan()
      let expected = (0..<valueCount).map { ScriptReading.plain(quoted: quoted).place($0) }
      #expect(scanner.places == expected, "\(script)")
      #expect(scanner.lines.isEmpty && scanner.commandWords.isEmpty, "\(script)")
    }
    #expect(plainCount > 300)
    #expect(quotedCount > 100)
  }

  @Test func `most scripts are plain`() {
    for script in [
      "echo \u{1} a-b", "make -j 4 \u{1}\n", "echo \"building \u{1}\" > log 2>&1",
      "cd src\nmake \u{1}\nmake install DESTDIR=/tmp/\u{1} && echo 'done: $x' | tee log",
      "swift test --filter \"\u{1}\" || exit 1",
    ] {
      #expect(quotedValues(script) != nil, "\(script)")
    }
  }

  @Test func `many values in quotes are for the scanner`() {
    func script(_ count: Int) -> String { "echo" + String(repeating: " \"\u{1}\"", count: count) }
    #expect(quotedValues(script(64)) == .max)
    #expect(quotedValues(script(65)) == nil)
    #expect(quotedValues("echo" + String(repeating: " \u{1}", count: 100)) == 0)
  }

  @Test func `what puts something in needs the scanner`() {
    for script in [
      "echo $\u{1}", "echo `\u{1}`", "echo \"$(x) \u{1}\"", "echo \\\u{1}", "x < \u{1}",
      "(echo \u{1})",
      "# \u{1}", "echo *\u{1}", "echo ?\u{1}", "echo [\u{1}]", "echo {\u{1}}", "~\u{1}",
      "! x \u{1}",
      "x \u{1}>y", "x=\u{1} y", "\u{1} x", "\"x\" \u{1}", "echo \"\u{1}", "echo x ^ \u{1}",
      "docker run x bash -c \u{1}", "docker run x su -c \"\u{1}\"", "a \"sh\" -c \u{1}", "x\r\u{1}",
    ] {
      #expect(quotedValues(script) == nil, "\(script)")
    }
  }
}
