// Values in code that is not for a shell: what is accepted, and what Perl makes of it.

import Expressions
import Foundation
import TestSupport
import Testing

private let perl = "/usr/bin/perl"

/// Values that Perl or another language would take for code in some place; `canary` is a program.
private let values = [
  "qx,canary,", "qx/canary/", "qx:canary:", "qx%canary%", "%x,canary,", "canary", "eval", "qx", "q",
  "qw", "s", "y", "x", "system", "exec", "do", "require", "print", "__END__", "/canary/e",
  "x/qx,canary,/e", "%ENV", "@ARGV", "a@b", "exit", "fork", "EOF", "1", "1.5", "true", "v1.2",
  "a-b", "a,b", "a=1", "..", "--", "=cut", ".", "0.canary", "1.qx,canary,", "qx.canary.",
  "qx-canary-", ".qx.canary..", "x-qx.canary.x",
]

/// Scripts in which `@` stands for the value.
private let places = [
  "print @ , 1;", "print \"@\";", "print '@';", "my $x = @; print $x;", "print \"a\", @, \"b\";",
  "print @ , \"@\", 1;", "$_ = 'canary'; print @ , \"@\", 1;", "$_ = 'canary'; @;", "@;", "@ '@';",
  "$_ = 'a'; s/@/x/; s/x/@/;", "$_ = 'a'; s,@,x,; s,x,@,;", "print \"it's @{[ @ ]} it's\";",
  "print \"$x{@} \\@ ${@}\";", "print <<EOF;\n@\n@\nEOF\n", "print <<'EOF', @;\nx\nEOF\n",
  "print <<~EOF;\n  @\n  @\n  EOF\n", "my %h = (@ => 1); print $h{@};",
  "print \"hi\n\", @, \"@\n\";", "print lc(@), '@', \"@\";", "# it's @\nprint '@', 1, '@';",
  "print '\\'', @, '@';", "`@`;", "print 'a'.@.'@';", "print \"{\" , @ , \"@\";",
  "print \"{\", \"@\", \"}\";", "q @ ; '@';", "my %h = (@ , \"@\", 1);",
  "my $r = [1]; print \"$r->[@] $$r[@] @$r[@]\";", "$_ = q(x); s/'/\"/g; print @ , \" it's\";",
  "# don't\nprint 'a\nb ' . @ . ' c\n';", "print 'a '.@.' b';", "print 'a '@' b';",
  "$_ = 'a'; s'a'@'e; s 'x'@'e;", "print \"a\nb \"@\" c\";", "print $'@', 1, @ '';",
  "print \"v@\", '@-@', $h{'@'};",
]

@Suite(.blocking) struct CodeValueTests {
  /// Gives the value for `params`, and the name of the canary for anything else.
  private struct TwoValues: ExpressionBindings {
    let value: String

    func member(_ name: String, of root: ContextRoot) -> Resolution {
      .known(.string(root == .params ? value : "canary"))
    }
  }

  /// The place with the value everywhere, or once, beside the name of the canary.
  private func template(_ place: String, at number: Int? = nil) -> String {
    let parts = place.split(separator: "@", omittingEmptySubsequences: false)
    var text = String(parts[0])
    for (index, part) in parts.enumerated().dropFirst() {
      let isValue = number == nil || index == number
      text += (isValue ? "${{ params.version }}" : "${{ run.id }}") + part
    }
    return text
  }

  private func script(_ text: String, _ value: String) -> String? {
    try? #require(readTemplate(text)).renderedScript(
      for: ScriptReader(shell: [perl]), with: TwoValues(value: value))
  }

  /// The numbers of the scripts that ran the canary.
  private func ranCanary(_ scripts: [String]) throws -> [Int] {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "scripts-\(UUID().uuidString)", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for (number, script) in scripts.enumerated() {
      try script.write(
        to: folder.appending(path: "\(number).pl"), atomically: false, encoding: .utf8)
    }
    let path = folder.path(percentEncoded: false)
    let child = try Child(
      script: """
        cd '\(path)' && mkdir programs work && echo '#!/bin/sh' >programs/canary || exit
        echo 'echo >>"$RAN"' >>programs/canary && chmod +x programs/canary || exit
        cd work; i=0; : >../ran
        while [ $i -lt \(scripts.count) ]; do
          RAN=../one PATH='\(path)programs' \(perl) ../$i.pl </dev/null >/dev/null 2>&1
          if [ -e ../one ]; then echo $i >>../ran; rm ../one; fi
          i=$((i+1))
        done; :
        """, environment: ["PATH": "/usr/bin:/bin"])
    #expect(child.wait() == 0)
    let found = try String(contentsOf: folder.appending(path: "ran"), encoding: .utf8)
    return found.split(separator: "\n").compactMap { Int($0) }
  }

  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: perl)))
  func `the probe sees code in Perl`() throws {
    let scripts = [
      "print qx,canary, , 1;", "$_ = 'a'; s/a/x/;", "qx 'canary';", "`canary`;",
    ]
    #expect(try ranCanary(scripts) == [0, 2, 3])
  }

  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: perl)))
  func `no value runs code in Perl, in whatever place`() throws {
    var scripts: Set<String> = []
    for place in places {
      for value in values {
        for number in [nil] + (1...place.count { $0 == "@" }).map(Optional.some) {
          if let script = script(template(place, at: number), value) { scripts.insert(script) }
        }
      }
    }
    #expect(scripts.count > 50)
    let sorted = scripts.sorted()
    #expect(try ranCanary(sorted).map { sorted[$0] } == [])
  }

  @Test(arguments: [
    ("print(\"@\")", "v1.2-rc_1"), ("print('@')", "main"), ("range(@)", "10"), ("x = @", "1.5"),
    ("x = @", "true"), ("{\"a\": '{\"b\": \"@\"}'}", "c"), ("# don't\nprint(\"@\")", "a"),
    ("print('a') # don't\nprint(\"@\")", "a"), ("x = \"\"\"\nit\n\"\"\"\nprint(\"@\")", "a"),
    ("select '@', @", "1"), ("f('@', '@')", "a"), ("print('v@', h{'@'})", "1.2a"),
    ("x=\"@-@.tar\";", "a"), ("# don't use @\nprint(1)", "5"), ("x = \"\"\"@ it's\"\"\"", "5"),
    ("x = \"a @ \\\n  b\"", "5"),
  ])
  func `numbers and whole strings are data`(place: String, value: String) {
    #expect(script(template(place), value) == place.replacing("@", with: value))
  }

  @Test(arguments: [
    ("print(@)", "x"), ("print(@)", "1x"), ("print(@)", ".5"), ("x.@", "exit"),
    ("f(\"a\" + @ + b)", "x"), ("print(\"@\")", "a/b"), ("print(\"@\")", "a,b"),
    ("print(\"@\")", "a@b"), ("print(\"@\")", "%s"), ("print(\"#{@}\")", "x"),
    ("print(\"#{f(y) + @}\")", "x"), ("print(\"\\(@)\")", "x"), ("print(\"#{h[\"a\"] + @}\")", "x"),
    ("print(\"${@}\")", "x"), ("print(\"@", "x"), ("x = \"a\n\", @, \"b\n\"", "x"), ("`@`", "x"),
    ("'\\'@'", "x/y"), ("print('\\', @", "x"), ("print(f\"{@}\")", "x"),
    ("<<EOF\n'@' x\nEOF", "a,b"), ("<<a1;\n@\na1", "a1"), ("<<1;\n@ '\n1", "1"),
    ("print(\"it's @\")", "a"), ("print(\"(@)\")", "a"), ("print(\"hello @\")", "a"),
    ("print(\"@\")", "-a"), ("print(\"@\")", "a."), ("print(\"-@\")", "a"), ("f\"@\"", "a"),
    ("'\\'@'", "a"), ("print(\"\"\"@\"\"\")", "a"),
  ])
  func `anything else is refused`(place: String, value: String) {
    #expect(script(template(place), value) == nil)
  }

  /// The quotes of these languages are not only those of strings.
  @Test(arguments: [
    "print \"row: $rows->[@] @$rows[@]\\n\";", "puts \"[@]\"",
    "$s =~ s/'/\"/g; print @ , \" it's\";",
    "x = A' * @ * B';", "[A' 'a: '@' b']", "[A.'-@-B.']", "[A.' @ B.']", "x = A '-@-B';",
    "x = A '-@-B';'", "(my-fn 'a @ 'b)", "`(f 'a @ ',b)", "f('it'.replace(/'/g, 1), @, 'x')",
    "# don't\nprint 'a\nb ' . @ . ' c\n';", "'a: '.@.' b'", "\"a: \"@\" b\"", "'a,'@',b'",
    "s'a'@'e", "s 'a'@'e", "s='=@=e; '", "[$', @, $']", "/* it's */ @ // it's", "'a'-@-'b'",
    "qx'@'", "\"'\"@\"'\"", "x = {'a': @, 'b': 1}",
  ])
  func `a word between quotes that are not those of its string is refused`(place: String) {
    #expect(script(template(place), "qx.id.x") == nil)
    #expect(script(template(place), "exit") == nil)
  }
}
