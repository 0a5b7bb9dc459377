import Testing

@testable import Diagnostics

struct HexadecimalTests {
  @Test(
    arguments: [
      (0, 1, "0"), (0, 4, "0000"), (0xF, 1, "f"), (0x10, 1, "10"), (0x1A2B, 2, "1a2b"),
      (0x1A2B, 8, "00001a2b"), (.max, 16, "ffffffffffffffff"), (.max, 18, "00ffffffffffffffff"),
    ] as [(UInt64, Int, String)])
  func `has at least so many digits`(value: UInt64, digits: Int, text: String) {
    #expect(hexadecimal(value, digits: digits) == text)
    #expect(hexadecimal(value, digits: digits, uppercase: true) == text.uppercased())
  }

  @Test func `agrees with the standard library`() {
    for shift in 0..<64 {
      for value in [1 << UInt64(shift), (1 << UInt64(shift)) - 1] as [UInt64] {
        #expect(hexadecimal(value, digits: 1) == String(value, radix: 16))
      }
    }
  }
}
