// Values in scripts, read by real shells: whatever the value and the position, it is refused or
// stays data.

import Diagnostics
import Expressions
import Foundation
import TestSupport
import Testing

/// The installed shells, each once: /bin/sh is one of them.
private let shells = [
  ["/bin/dash"], ["/bin/bash"], ["/bin/bash", "--posix"], ["/bin/busybox", "sh"], ["/bin/ksh"],
  ["/bin/mksh"], ["/bin/zsh"], ["/bin/yash"],
]
.filter { FileManager.default.isExecutableFile(atPath: $0[0]) }
.map { Shell(arguments: $0) }

/// Whether to test every value in every position, which takes minutes, instead of a part of them.
private let isThorough = ProcessInfo.processInfo.environment["OPRUN_THOROUGH"] != nil

private let head = "x=1; :\n"

private func places(for shell: Shell) -> [String] {
  shell.arguments[0].hasSuffix("bash") ? valuePlaces + bashValuePlaces : valuePlaces
}

/// The scripts of each position with the values that it accepts; the same for all shells.
private let acceptedScripts = Dictionary(
  (valuePlaces + bashValuePlaces).enumerated().map { row, place in
    let values = (hostileValues + plainHostileValues).enumerated().filter {
      isThorough || (row + $0.offset).isMultiple(of: 8)
    }
    return (place, values.compactMap { try? inserted($0.element, at: place) })
  }, uniquingKeysWith: +)

@Suite(.blocking) struct InjectionTests {
  @Test func `there are enough hostile values, and shells to read them`() {
    #expect(Set(hostileValues).count >= 90)
    #expect(Set(plainHostileValues).count >= 50)
    #expect(shells.contains { $0.arguments == ["/bin/bash"] })
    #expect(shells.contains { $0.arguments == ["/bin/dash"] })
  }

  /// Shows what would happen without any check: most values are code somewhere, most positions run
  /// code.
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
    var missed = places
    for value in values {
      let scripts = missed.map { $0.replacing("@", with: value) }
      let traces = try ScriptRunner().run(scripts, head: head, with: shell)
      missed = zip(missed, traces).filter { !$1.ranCanary }.map(\.0)
    }
    #expect(missed == [])
  }

  @Test(arguments: shells)
  func `no value runs code, in whatever place`(shell: Shell) throws {
    let scripts = Set(places(for: shell).flatMap { acceptedScripts[$0] ?? [] })
    #expect(scripts.count > 500)
    let sorted = scripts.sorted()
    let traces = try ScriptRunner().run(sorted, head: head, with: shell)
    #expect(traces.count == scripts.count)
    #expect(zip(sorted, traces).filter { $1.ranCanary }.map(\.0) == [])
  }

  /// One value may make code of the place of another one, as at the end of a here-document.
  @Test(arguments: shells)
  func `no value makes another one a command`(shell: Shell) throws {
    let places = places(for: shell).filter { $0.count { $0 == "@" } > 1 }
    #expect(places.count > 20)
    func scripts(_ values: [String]) -> [(place: String, script: String)] {
      places.flatMap { place in
        values.flatMap { value in
          pairs(value, at: place).map { (place, $0) }
        }
      }
    }
    func run(_ scripts: [(place: String, script: String)]) throws -> [Bool] {
      try ScriptRunner().run(scripts.map(\.script), head: head, with: shell).map(\.ranCanary)
    }
    let harmless = scripts(["v1"])
    let commands = Set(zip(harmless, try run(harmless)).filter(\.1).map(\.0.place))
    let values = isThorough ? plainHostileValues : ["EOF", "OF", "A", "B", "eval", "do", "PATH=0"]
    let hostile = scripts(values).filter { !commands.contains($0.place) }
    #expect(hostile.count > 50)
    #expect(zip(hostile, try run(hostile)).filter(\.1).map(\.0.script) == [])
  }

  /// The place with the value once, and the name of the canary in all other places, if that is accepted.
  private func pairs(_ value: String, at place: String) -> [String] {
    let parts = place.split(separator: "@", omittingEmptySubsequences: false)
    return (1..<parts.count).compactMap { number in
      var text = String(parts[0])
      for (index, part) in parts.enumerated().dropFirst() {
        text += (index == number ? "${{ params.version }}" : "${{ run.id }}") + part
      }
      return try? #require(readTemplate(text)).renderedScript(
        for: ScriptReader(shell: ["/bin/sh"]), with: TwoValues(value: value))
    }
  }

  /// This covers a variable, and the words that quote() writes for strings that our shells do not
  /// read.
  @Test(arguments: shells)
  func `the ways out take any value as it is`(shell: Shell) throws {
    let values = hostileValues.filter { !$0.contains("\0") }
    var scripts: [String] = []
    var expected: [[[String]]] = []
    for value in values {
      let word = try quoteCall(value)
      scripts.append("p \(word); V=\(word); p \"$V\" \"a$V\"; set -- \(word); p \"$1\"")
      expected.append([[value], [value, "a\(value)"], [value]])
    }
    let traces = try ScriptRunner().run(scripts, with: shell)
    #expect(traces.count == scripts.count)
    for (index, trace) in traces.enumerated() {
      #expect(!trace.ranCanary && trace.calls == expected[index], "\(shell): \(scripts[index])")
    }
  }

  private func quoteCall(_ value: String) throws -> String {
    let template = try #require(readTemplate("${{ quote(params.version) }}"))
    return try template.rendered(with: OneValue(value: value))
  }
}

/// Gives a value for `params`, and the name of the canary for anything else.
private struct TwoValues: ExpressionBindings {
  let value: String

  func member(_ name: String, of root: ContextRoot) -> Resolution {
    .known(.string(root == .params ? value : "canary"))
  }
}
