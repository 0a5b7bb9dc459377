// Values in scripts, read by real shells: whatever the value and the place, it is refused or stays data.

import Diagnostics
import Foundation
import Pipelines
import Testing

/// Gives one value for every name.
private struct OneValue: ExpressionBindings {
  let value: String

  func member(_ name: String, of root: ContextRoot) -> Resolution { .known(.string(value)) }
}

/// The script with the value at every `@`; nil if it is refused.
private func script(_ place: String, _ value: String, quoted: Bool) throws -> String? {
  let insertion = quoted ? "${{ quote(params.version) }}" : "${{ params.version }}"
  let file = SampleFile(place.replacing("@", with: insertion))
  var log = DiagnosticLog()
  let template = try #require(
    file.sources.withText(at: file.origin.span) { source in
      Template(parsing: file.bytes[...], file.origin, in: source, log: &log)
    })
  return try? template.renderedScript(for: .shell, with: OneValue(value: value))
}

/// With a variable whose text is code to a shell that calculates with it.
private let head = "EVIL='a[$(canary)]'; x=1; :\n"

/// One of a kind: /bin/sh is one of them.
private let shells = Shell.installed.filter {
  $0.arguments != ["/bin/sh"] && (isThorough || $0.arguments.count == 1)
}

/// Every value in every place takes minutes: without this, a part of them.
private let isThorough = ProcessInfo.processInfo.environment["OPRUN_THOROUGH"] != nil

private func places(for shell: Shell) -> [String] {
  shell.arguments[0].hasSuffix("bash") ? valuePlaces + bashValuePlaces : valuePlaces
}

struct InjectionTests {
  @Test func `there are enough hostile values`() {
    #expect(Set(hostileValues).count >= 90)
    #expect(Set(plainHostileValues).count >= 40)
  }

  /// What would happen without any check: most values are code somewhere, most places run code.
  @Test(arguments: shells)
  func `the probe sees an injection`(shell: Shell) throws {
    let places = places(for: shell).enumerated().filter { isThorough || $0.offset % 4 == 0 }
      .map(\.element)
    let values = [
      "$(canary)", "; canary", "\ncanary\n", "' ; canary ; '", "'$(canary)'", "a[$(canary)]",
      "EOF\ncanary", ")\ncanary\n(p", "}; canary; {", "canary", "x)\ncanary\n;;\n*",
      "z in b; do canary; done\nfor z", "!= y ]]\ncanary\n[[ x =", "x != y ]]\ncanary\n[[ x",
      "x}\ncanary\n",
    ]
    let pairs = places.flatMap { place in values.map { (place, $0) } }
    let scripts = pairs.map { $0.replacing("@", with: $1) }
    let traces = try ScriptRunner().run(scripts, head: head, with: shell)
    let hits = zip(pairs, traces).filter { $1.ranCanary }.map(\.0)
    let hitPlaces = Set(hits.map(\.0))
    #expect(Set(places).subtracting(hitPlaces) == [])
  }

  @Test(arguments: shells)
  func `no value runs code, in whatever place`(shell: Shell) throws {
    var scripts: [String] = []
    for (row, place) in places(for: shell).enumerated() {
      for (column, value) in (hostileValues + plainHostileValues).enumerated()
      where isThorough || (row + column).isMultiple(of: 16) {
        for quoted in [false, true] {
          if let text = try script(place, value, quoted: quoted) { scripts.append(text) }
        }
      }
    }
    #expect(scripts.count > 500)
    let traces = try ScriptRunner().run(scripts, head: head, with: shell)
    #expect(traces.count == scripts.count)
    #expect(zip(scripts, traces).filter { $1.ranCanary }.map(\.0) == [])
  }

  @Test(arguments: shells)
  func `a quoted value reaches a program as it is`(shell: Shell) throws {
    let places: [(String, (String) -> [[String]])] = [
      ("p @", { [[$0]] }), ("p a@b", { [["a\($0)b"]] }),
      ("p @ @", { [[$0, $0]] }), ("p --flag=@ end", { [["--flag=\($0)", "end"]] }),
      ("x=@; p \"$x\"", { [[$0]] }), ("p \"a\"@'b'", { [["a\($0)b"]] }),
      ("for y in a @; do p \"$y\"; done", { [["a"], [$0]] }),
      ("case @ in @) p 2;; *) p 3;; esac", { _ in [["2"]] }),
      ("(p $(p @) @)", { [[$0], [$0]] }), ("f() { p @; }; f", { [[$0]] }),
      ("export y=@; p \"$y\"", { [[$0]] }),
      ("if p @; then p @; fi", { [[$0], [$0]] }),
    ]
    var scripts: [String] = []
    var expected: [[[String]]] = []
    for (place, words) in places {
      for value in hostileValues {
        let text = try #require(try script(place, value, quoted: true), "\(place)")
        scripts.append(text)
        expected.append(words(value))
      }
    }
    let traces = try ScriptRunner().run(scripts, with: shell)
    #expect(traces.count == scripts.count)
    for (index, trace) in traces.enumerated() {
      #expect(!trace.ranCanary && trace.calls == expected[index], "\(shell): \(scripts[index])")
    }
  }

  @Test func `a list is an argument vector and takes any value`() throws {
    let file = SampleFile("--name=${{ params.version }}")
    var log = DiagnosticLog()
    let template = try #require(
      file.sources.withText(at: file.origin.span) { source in
        Template(parsing: file.bytes[...], file.origin, in: source, log: &log)
      })
    for value in hostileValues {
      #expect(try template.rendered(with: OneValue(value: value)) == "--name=\(value)")
    }
  }

  @Test func `NUL is never let in`() throws {
    #expect(try script("p @", "a\0b", quoted: true) == nil)
    #expect(try script("p @", "a\0b", quoted: false) == nil)
  }
}
