// The outputs in the file that OPRUN_OUTPUT names, and the messages about an invalid one.

import Foundation
import TestSupport
import Testing

@testable import Expressions
@testable import Plans

struct OutputFileTests {
  /// The values as JSON, or what is wrong.
  private func outcome(_ text: String, _ declared: [OutputDeclaration]? = nil) -> String {
    outcome(Array(text.utf8), declared)
  }

  private func outcome(_ bytes: [UInt8], _ declared: [OutputDeclaration]? = nil) -> String {
    do throws(OutputFailure) {
      return Value.map(try readOutputs(bytes, declared: declared)).json
    } catch {
      return error.words(hasSecrets: false)
    }
  }

  @Test(arguments: [
    ("", "{}"), ("\n\n\r\n", "{}"), ("a=1", #"{"a":"1"}"#),
    ("a=1\nb-2_=x=y\n", #"{"a":"1","b-2_":"x=y"}"#),
    ("a=", #"{"a":""}"#), ("a= x ", #"{"a":" x "}"#), ("a=x\r\n", #"{"a":"x"}"#),
    ("a=b<<c", #"{"a":"b<<c"}"#), ("a<<b=c\nx\nb=c", #"{"a":"x"}"#),
    ("a<<END\nEND", #"{"a":""}"#), ("a<<END\n\nEND\n", #"{"a":""}"#),
    ("a<<END\none\n two\n\nEND\nb=1", #"{"a":"one\n two\n","b":"1"}"#),
    ("a<<END\nx END\nENDx\nEND\n", #"{"a":"x END\nENDx"}"#),
    ("a<<END\r\nx\r\nEND\r\n", #"{"a":"x\r"}"#),
    ("a<<END\nb=1\nEND\nb=2", #"{"a":"b=1","b":"2"}"#),
    ("a:json=[1, {\"b\": null}]", #"{"a":[1,{"b":null}]}"#), ("a:json= true ", #"{"a":true}"#),
    ("a:json<<E\n{\n  \"b\": 1\n}\nE\n", #"{"a":{"b":1}}"#),
    ("é=1", "line 1 of OPRUN_OUTPUT: \(badName): 'é=1'"),
    ("a=é\u{1F600}", "{\"a\":\"é\u{1F600}\"}"),
  ])
  func `every form of entry gives its value`(text: String, json: String) {
    #expect(outcome(text) == json)
  }

  @Test(arguments: [
    (
      "a=1\nhello",
      "line 2 of OPRUN_OUTPUT has neither '=' nor '<<': 'hello'; "
        + "write name=value, name<<END or name:json=value"
    ),
    ("=x", "line 1 of OPRUN_OUTPUT: the name of the output is missing: '=x'"),
    ("a b=x", "line 1 of OPRUN_OUTPUT: \(badName): 'a b=x'"),
    ("1=x", "line 1 of OPRUN_OUTPUT: \(badName): '1=x'"),
    ("a:yaml=x", "line 1 of OPRUN_OUTPUT: \(badName): 'a:yaml=x'"),
    ("<<END\nEND", "line 1 of OPRUN_OUTPUT: the name of the output is missing: '<<END'"),
    (" a=1", "line 1 of OPRUN_OUTPUT: a name has no spaces before or after it: ' a=1'"),
    ("a=1\n\na=2", "line 3 of OPRUN_OUTPUT: 'a' is given twice, first on line 1"),
    ("a<<\nx\n", "line 1 of OPRUN_OUTPUT: the word that ends 'a' is missing after '<<'"),
    (
      "b=1\na<<END\nx\nEND ",
      "line 2 of OPRUN_OUTPUT: 'a' begins here and does not end; \(ending)"
    ),
    ("a<<END", "line 1 of OPRUN_OUTPUT: 'a' begins here and does not end; \(ending)"),
    (
      "a:json=[1",
      "line 1 of OPRUN_OUTPUT: 'a' is not JSON: ',' or ']' is missing at byte 3: 'a:json=[1'"
    ),
    ("a:json=", "line 1 of OPRUN_OUTPUT: 'a' is not JSON: a value is missing at byte 1: 'a:json='"),
    ("a<<E\nx\0\nE", "line 2 of OPRUN_OUTPUT: an output cannot contain the character '\\u{0}'"),
  ])
  func `what is wrong is said with its line`(text: String, message: String) {
    #expect(outcome(text) == message)
  }

  @Test func `a line is shown only if it is whole, and never in a run with secrets`() {
    let hint = "write name=value, name<<END or name:json=value"
    let plain = "line 1 of OPRUN_OUTPUT has neither '=' nor '<<'; \(hint)"
    #expect(outcome(String(repeating: "x", count: 81)) == plain)
    #expect(outcome("a\tb") == plain)
    let failure = #expect(throws: OutputFailure.self) {
      try readOutputs(Array("hello".utf8), declared: nil)
    }
    #expect(failure?.words(hasSecrets: true) == plain)
  }

  @Test func `bytes that are no UTF-8 are refused`() {
    let message = "line 2 of OPRUN_OUTPUT is not UTF-8; encode such a value, as base64 does"
    #expect(outcome(Array("a=1\nb=".utf8) + [0xFF]) == message)
    #expect(outcome(Array("a<<E\n".utf8) + [0xC3, 0x0A] + Array("E".utf8)) == message)
  }

  @Test func `the limit is one mebibyte`() {
    let fits = Array("a=".utf8) + Array(repeating: UInt8(ascii: "x"), count: (1 << 20) - 2)
    #expect(outcome(fits).utf8.count == (1 << 20) - 2 + 8)
    #expect(outcome(fits + [10]) == "OPRUN_OUTPUT is larger than 1 MiB, which is the limit")
  }

  @Test func `many entries are read in one pass`() {
    let text = (0..<100_000).map { "n\($0)=\n" }.joined()
    #expect(outcome(text).hasSuffix(#","n99999":""}"#))
  }

  private let declared = [
    OutputDeclaration(name: "text", type: .string), OutputDeclaration(name: "whole", type: .int),
    OutputDeclaration(name: "number", type: .number), OutputDeclaration(name: "flag", type: .bool),
    OutputDeclaration(name: "items", type: .list), OutputDeclaration(name: "members", type: .map),
    OutputDeclaration(name: "anything", type: .json),
  ]

  @Test(arguments: [
    ("", "{}"), ("text=1", #"{"text":"1"}"#), ("text:json=\"1\"", #"{"text":"1"}"#),
    ("whole=-3", #"{"whole":-3}"#), ("whole=2.0", #"{"whole":2}"#),
    ("number=2.5", #"{"number":2.5}"#),
    ("flag=true", #"{"flag":true}"#), ("items=[]", #"{"items":[]}"#),
    ("items<<E\n[1,\n2]\nE", #"{"items":[1,2]}"#), ("members={\"a\": 1}", #"{"members":{"a":1}}"#),
    ("anything=null", #"{"anything":null}"#), ("whole:json=7", #"{"whole":7}"#),
    (
      "whole=2.5",
      "line 1 of OPRUN_OUTPUT: 'whole' must be a whole number, not a number: 'whole=2.5'"
    ),
    (
      "flag:json=1",
      "line 1 of OPRUN_OUTPUT: 'flag' must be true or false, not a number: 'flag:json=1'"
    ),
    ("items={}", "line 1 of OPRUN_OUTPUT: 'items' must be a list, not a map: 'items={}'"),
    (
      "text:json=null",
      "line 1 of OPRUN_OUTPUT: 'text' must be a string, not null: 'text:json=null'"
    ),
    (
      "flag=yes",
      "line 1 of OPRUN_OUTPUT: 'flag' must be true or false: 'flag=yes'"
    ),
    (
      "whole=9007199254740993",
      "line 1 of OPRUN_OUTPUT: 'whole' must be a whole number, but its text is not JSON: "
        + "a number too large to be represented exactly at byte 1: 'whole=9007199254740993'"
    ),
    (
      "a=1\n",
      "line 1 of OPRUN_OUTPUT: 'a' is not declared in 'outputs' of the step"
    ),
    (
      "text=1\nwohle=1\n",
      "line 2 of OPRUN_OUTPUT: 'wohle' is not declared in 'outputs' of the step, "
        + "did you mean 'whole'?"
    ),
  ])
  func `declared types decide how a text is read`(text: String, json: String) {
    #expect(outcome(text, declared) == json)
  }

  /// `OPRUN_FUZZ_SECONDS=600` goes on for that long.
  @Test
  func `no hostile file is more than an error, and what is read can be written and read again`()
    throws
  {
    let seconds = ProcessInfo.processInfo.environment["OPRUN_FUZZ_SECONDS"].flatMap { Double($0) }
    let end = ContinuousClock.now + .seconds(seconds ?? 1)
    var random = SeededGenerator(seed: seconds == nil ? 3 : UInt64.random(in: 0...(.max)))
    var readCount = 0
    while ContinuousClock.now < end {
      for _ in 0..<1000 {
        let bytes = hostileFile(&random)
        let declared = Bool.random(using: &random) ? nil : declared
        guard let values = try? readOutputs(bytes, declared: declared) else { continue }
        let again = zip(values.names, values.values).map { "\($0):json=\($1.json)\n" }.joined()
        let reread = try readOutputs(Array(again.utf8), declared: declared)
        #expect(reread == values, "\(String(decoding: bytes, as: UTF8.self))")
        readCount += values.count > 0 ? 1 : 0
      }
    }
    #expect(readCount > 0)
  }

  private func hostileFile(_ random: inout SeededGenerator) -> [UInt8] {
    var bytes: [UInt8] = []
    for _ in 0..<Int.random(in: 0..<24, using: &random) {
      bytes += Array((fragments.randomElement(using: &random) ?? "").utf8)
      if Int.random(in: 0..<4, using: &random) == 0 { bytes.append(10) }
    }
    if Int.random(in: 0..<8, using: &random) == 0, !bytes.isEmpty {
      let place = Int.random(in: 0..<bytes.count, using: &random)
      bytes[place] = UInt8.random(in: 0...255, using: &random)
    }
    return bytes
  }
}

private let fragments = [
  "a", "b=", "c=1", "text=x", "whole=5\n", "items=[", "members={\"a\":1}\n", "d:json=", "e<<E\n",
  "f:json<<E\n", "E\n", "\nE\n", "E", "=", "<<", "\r", "\r\n", "[", "]", "{", "}", "\"", "\\",
  "\\u00",
  "\\ud83d\\ude00", "\\n", "1", "-0.5e3", "1e400", "9007199254740994", ",", ":", "true", "null",
  "é", " ",
  "\u{1F600}", "\u{0}", "[[1,2],{\"k\":\"v\"}]", "\"a\":", "g:json=\"x\"\n", "flag=true\n",
  "\u{301}",
]

private let badName =
  "the name of an output is a letter or '_', then letters, digits, '_' and '-', at most 128 in all"

private let ending = "a line with nothing but the word after '<<' ends it"
