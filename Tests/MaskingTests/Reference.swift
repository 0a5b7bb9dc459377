// The simplest implementation of masking: every occurrence is found by searching everywhere.

@testable import Masking

/// The text with its occurrences replaced; those that overlap are one.
func naivelyMasked(_ text: [UInt8], _ patterns: Set<[UInt8]>) -> [UInt8] {
  var ranges: [Range<Int>] = []
  for start in text.indices {
    for pattern in patterns where text[start...].starts(with: pattern) {
      let end = start + pattern.count
      if let last = ranges.last, last.upperBound > start {
        ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, end)
      } else {
        ranges.append(start..<end)
      }
    }
  }
  var result: [UInt8] = []
  var position = 0
  for range in ranges {
    result += text[position..<range.lowerBound] + Array("***".utf8)
    position = range.upperBound
  }
  return result + text[position...]
}

/// The text as it leaves a stream that receives it in pieces of these lengths, repeated.
func masked(_ text: [UInt8], _ masker: Masker, pieces: [Int]) -> [UInt8] {
  var stream = MaskingStream(masker)
  var output: [UInt8] = []
  var start = 0
  var turn = 0
  while start < text.count {
    let end = min(text.count, start + pieces[turn % pieces.count])
    stream.mask(Array(text[start..<end]), into: &output)
    start = end
    turn += 1
  }
  stream.finish(into: &output)
  return output
}
