// JSON is parsed strictly, within limits, and every fault has a position.

import Foundation
import Testing

@testable import Expressions

struct JSONReaderTests {
  private func outcome(_ text: String) -> String {
    do throws(JSONFailure) {
      return try JSONReader.value(of: text).json
    } catch {
      return "\(error.reason) at \(error.offset)"
    }
  }

  @Test(arguments: [
    ("null", "null"), (" true\n", "true"), ("false", "false"), ("0", "0"), ("-0.5e+1", "-5"),
    ("1.25", "1.25"), ("9007199254740991", "9007199254740991"), ("\"\"", "\"\""), ("[]", "[]"),
    ("{}", "{}"), ("[ 1 , [ ] ]", "[1,[]]"), (#"{"b": 1, "a": {}}"#, #"{"b":1,"a":{}}"#),
    (#"{"\u00e9": 1, "e\u0301": 2}"#, "{\"\u{E9}\":1,\"e\u{301}\":2}"),
    (#""\u00e9\n\/\ud83d\ude00""#, "\"é\\n/\u{1F600}\""),
  ])
  func `values are read as they are written`(text: String, json: String) {
    #expect(outcome(text) == json)
  }

  @Test(arguments: [
    ("", "a value is missing at 0"), ("  ", "a value is missing at 2"),
    ("nul", "a value is missing at 0"), ("nullx", "unexpected content after the value at 4"),
    ("True", "a value is missing at 0"), ("[1] 2", "unexpected content after the value at 4"),
    ("[1,]", "a value is missing at 3"), ("[1 2]", "',' or ']' is missing at 3"),
    ("{a: 1}", "a name is missing at 1"), (#"{"a" 1}"#, "':' is missing at 5"),
    (#"{"a": 1,}"#, "a name is missing at 8"), (#"{"a": 1 "b"}"#, "',' or '}' is missing at 8"),
    (#"{"a": 1, "a": 2}"#, "a duplicate name at 9"),
    (#"{"a": 1, "\u0061": 2}"#, "a duplicate name at 9"),
    ("01", "not a number at 0"), ("+1", "a value is missing at 0"), ("1.", "not a number at 0"),
    (".5", "a value is missing at 0"), ("1e", "not a number at 0"), ("-", "not a number at 0"),
    ("NaN", "a value is missing at 0"),
    ("1e999", "a number too large to be represented exactly at 0"),
    ("9007199254740993", "a number too large to be represented exactly at 0"),
    ("[1x]", "not a number at 1"),
    ("\"a", "an unclosed string at 0"), (#""a\""#, "an unclosed string at 0"),
    ("\"a\nb\"", "a control character in a string at 2"), (#""\x""#, "an unknown escape at 0"),
    (#""\ud800""#, "an unknown escape at 0"), (#""\u12""#, "an unknown escape at 0"),
    ("// x\n1", "a value is missing at 0"),
  ])
  func `what is no JSON has its place`(text: String, fault: String) {
    #expect(outcome(text) == fault)
  }

  @Test func `64 levels are read, and no more`() {
    let nest = { (count: Int, inner: String) in
      String(repeating: "[", count: count) + inner + String(repeating: "]", count: count)
    }
    #expect(outcome(nest(64, "1")) == nest(64, "1"))
    #expect(outcome(nest(65, "")) == "more than 64 levels at 64")
    #expect(outcome(String(repeating: "{\"a\":", count: 1_000_000)) == "more than 64 levels at 320")
  }

  @Test func `what Foundation writes is read as it was`() throws {
    let values: [Any] = [
      ["a": [1, 2.5, true, NSNull()], "b\"\\\n\u{1}": "é\u{1F600}/"], [[], [:], ""], "x", 1e-7,
      -12.0,
    ]
    for value in values {
      let data = try JSONSerialization.data(withJSONObject: value, options: .fragmentsAllowed)
      let read = try JSONReader.value(of: String(decoding: data, as: UTF8.self))
      let again = try JSONSerialization.jsonObject(
        with: Data(read.json.utf8), options: .fragmentsAllowed)
      #expect((again as? NSObject) == (value as? NSObject))
    }
  }
}
