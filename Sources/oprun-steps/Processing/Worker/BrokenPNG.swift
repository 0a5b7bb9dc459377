// Finds out what is wrong with a PNG that could not be read, because libvips usually says only that
// reading failed. It is examined only then, by the rules of the format (ISO/IEC 15948).

import CZlib
import Glibc

struct BrokenPNG {
  private struct Header {
    let width: Int
    let height: Int
    let bitsPerPixel: Int
    let isInterlaced: Bool
    let needsPalette: Bool
  }

  private let bytes: UnsafeRawBufferPointer
  private var header: Header?
  private var hasPalette = false
  private var data: [Range<Int>] = []

  /// The reason; nil if nothing is found.
  static func reason(of descriptor: Int32) -> String? {
    let length = Int(lseek(descriptor, 0, SEEK_END))
    guard length > 0, let map = mmap(nil, length, PROT_READ, MAP_PRIVATE, descriptor, 0),
      map != MAP_FAILED
    else { return nil }
    defer { munmap(map, length) }
    var png = BrokenPNG(bytes: UnsafeRawBufferPointer(start: map, count: length))
    return png.reason()
  }

  private init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  private func number(at place: Int) -> Int {
    bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
  }

  // MARK: Chunks

  private mutating func reason() -> String? {
    var place = 8
    while place < bytes.count {
      guard place + 8 <= bytes.count else { return "ends inside of the head of a chunk" }
      let length = number(at: place)
      let letters = bytes[place + 4..<place + 8]
      guard letters.allSatisfy({ (0x41...0x5a).contains($0 & 0xdf) }) else {
        return "has a chunk with an invalid name, at byte \(place)"
      }
      let name = String(decoding: letters, as: UTF8.self)
      guard length < 1 << 31 else { return "has a chunk '\(name)' of an impossible length" }
      let content = place + 8..<place + 8 + length
      guard content.upperBound + 4 <= bytes.count else {
        return "ends inside of the chunk '\(name)': \(bytes.count) bytes are there, "
          + "\(content.upperBound + 4) wanted"
      }
      if let reason = take(name, content) { return reason }
      if name == "IEND" { break }
      place = content.upperBound + 4
    }
    guard let header else { return "ends before its header" }
    if data.isEmpty { return "has no image data" }
    if header.needsPalette, !hasPalette { return "has no palette, which its colour type needs" }
    return dataReason(header)
  }

  private mutating func take(_ name: String, _ content: Range<Int>) -> String? {
    let isCritical = bytes[content.lowerBound - 4] & 0x20 == 0
    if isCritical, checksum(of: content) != UInt(number(at: content.upperBound)) {
      return "has a wrong checksum in the chunk '\(name)'"
    }
    guard header != nil || name == "IHDR" else {
      return "does not begin with its header, but with the chunk '\(name)'"
    }
    switch name {
    case "IHDR": return takeHeader(content)
    case "PLTE": hasPalette = true
    case "IDAT": data.append(content)
    case "IEND": break
    default: if isCritical { return "has a chunk of an unknown kind, '\(name)'" }
    }
    return nil
  }

  private func checksum(of content: Range<Int>) -> UInt {
    let checked = bytes[content.lowerBound - 4..<content.upperBound]
    return UnsafeRawBufferPointer(rebasing: checked).withMemoryRebound(to: UInt8.self) {
      UInt(crc32(0, $0.baseAddress, UInt32($0.count)))
    }
  }

  private mutating func takeHeader(_ content: Range<Int>) -> String? {
    guard header == nil else { return "has two headers" }
    guard content.count == 13 else { return "has a header of \(content.count) bytes, wanted 13" }
    let (width, height) = (number(at: content.lowerBound), number(at: content.lowerBound + 4))
    let rest = bytes[content.dropFirst(8)]
    let (depth, kind) = (Int(rest[rest.startIndex]), Int(rest[rest.startIndex + 1]))
    guard width > 0, height > 0 else { return "says that it has \(width) × \(height) pixels" }
    let channels = [0: 1, 2: 3, 3: 1, 4: 2, 6: 4]
    guard let count = channels[kind] else { return "has the unknown colour type \(kind)" }
    let depths = kind == 0 ? [1, 2, 4, 8, 16] : kind == 3 ? [1, 2, 4, 8] : [8, 16]
    guard depths.contains(depth) else {
      return "has \(depth) bits for a channel, which its colour type cannot have"
    }
    let methods = Array(rest.suffix(3))
    if methods[0] != 0 { return "has the unknown compression \(methods[0])" }
    if methods[1] != 0 { return "has the unknown filter method \(methods[1])" }
    if methods[2] > 1 { return "has the unknown interlacing \(methods[2])" }
    header = Header(
      width: width, height: height, bitsPerPixel: depth * count, isInterlaced: methods[2] == 1,
      needsPalette: kind == 3)
    return nil
  }

  // MARK: Image data

  /// Decompresses the data, and checks the filter of each row.
  private func dataReason(_ header: Header) -> String? {
    var stream = z_stream()
    guard czlib_start(&stream, 15) == Z_OK else { return nil }
    defer { inflateEnd(&stream) }
    let rowLength = 1 + (header.width * header.bitsPerPixel + 7) / 8
    var (count, isOver) = (0, false)
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    for range in data where !isOver {
      var rest = UnsafeRawBufferPointer(rebasing: bytes[range])
      repeat {
        let result = inflate(&stream, &rest, into: &buffer)
        if result.status == Z_DATA_ERROR || result.status == Z_NEED_DICT {
          return "has broken image data" + (stream.msg.map { ": \(String(cString: $0))" } ?? "")
        }
        if !header.isInterlaced,
          let row = wrongRow(buffer[..<result.count], from: count, rowLength, header.height)
        {
          return "has an unknown filter in row \(row)"
        }
        count += result.count
        isOver = result.status == Z_STREAM_END
        if result.count == 0 { break }
      } while !isOver
    }
    // Not multiplied: a header can say that there are more bytes than a number can count.
    guard !header.isInterlaced, count / rowLength < header.height else {
      return isOver ? nil : "has image data that end too early"
    }
    return "has image data for \(count / rowLength) of \(header.height) rows"
  }

  private func inflate(
    _ stream: inout z_stream, _ rest: inout UnsafeRawBufferPointer, into buffer: inout [UInt8]
  ) -> (status: Int32, count: Int) {
    let size = buffer.count
    let available = rest.count
    let status = buffer.withUnsafeMutableBufferPointer { target in
      stream.next_in = UnsafeMutablePointer(
        mutating: rest.baseAddress?.assumingMemoryBound(to: UInt8.self))
      stream.avail_in = UInt32(available)
      stream.next_out = target.baseAddress
      stream.avail_out = UInt32(size)
      return CZlib.inflate(&stream, Z_NO_FLUSH)
    }
    rest = UnsafeRawBufferPointer(rebasing: rest[(available - Int(stream.avail_in))...])
    return (status, size - Int(stream.avail_out))
  }

  /// The first row, counted from 1, whose filter is none of the five.
  private func wrongRow(
    _ bytes: ArraySlice<UInt8>, from start: Int, _ rowLength: Int, _ rows: Int
  ) -> Int? {
    var place = (rowLength - start % rowLength) % rowLength
    while place < bytes.count {
      let row = (start + place) / rowLength
      if row >= rows { return nil }
      if bytes[place] > 4 { return row + 1 }
      place += rowLength
    }
    return nil
  }
}
