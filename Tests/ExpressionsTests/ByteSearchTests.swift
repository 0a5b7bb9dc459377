// Where expressions begin in bytes.

import Testing

@testable import Expressions

struct ByteSearchTests {
  @Test(
    arguments: [
      ("", nil), ("$", nil), ("${", nil), ("${{", 0), ("a ${{ b }}", 2), ("$${{", 1), ("${${{", 2),
      ("$ {{ ${ {$", nil), ("a$b$c${{", 5),
    ] as [(String, Int?)])
  func `an expression begins with a dollar and two braces`(text: String, start: Int?) {
    #expect(Array(text.utf8).withUnsafeBufferPointer { $0.expressionStart() } == start)
  }

  @Test func `the search begins at a place and ends with the bytes`() {
    let text = Array("${{ 1 }}${{ 2 }}${{".utf8)
    text.withUnsafeBufferPointer { text in
      #expect(text.expressionStart(from: 1) == 8)
      #expect(text.expressionStart(from: 9) == 16)
      #expect(text.expressionStart(from: 17) == nil)
      #expect(text.expressionStart(from: text.count) == nil)
      #expect(UnsafeBufferPointer(rebasing: text[..<18]).expressionStart(from: 9) == nil)
      #expect(text.place(of: UInt8(ascii: "2"), from: 8) == 12)
      #expect(text.place(of: UInt8(ascii: "3")) == nil)
    }
  }
}
