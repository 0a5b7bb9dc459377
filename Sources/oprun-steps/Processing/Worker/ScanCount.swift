// Counts the scans of a JPEG, only from its markers (ITU-T T.81, annex B). libjpeg goes over the
// whole image for each of them, however short they are.

struct ScanCount {
  private let bytes: UnsafeRawBufferPointer
  private var position = 2

  private init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// True if there are more than `limit` scans; stops counting after that. A JPEG that is not
  /// progressive has at most one for each colour, and is not searched.
  static func exceeds(_ limit: Int, in bytes: UnsafeRawBufferPointer) -> Bool {
    var reader = ScanCount(bytes)
    var scans = 0
    while scans <= limit, let marker = reader.nextMarker() {
      switch marker {
      case 0xC0, 0xC1, 0xD9: return false
      case 0xDA: scans += 1
      default: break
      }
      reader.skipSegment()
    }
    return scans > limit
  }

  /// Advances to the next `FF xx` that is neither padding, nor a byte of data, nor a restart.
  private mutating func nextMarker() -> UInt8? {
    while position + 1 < bytes.count {
      guard bytes[position] == 0xFF else {
        position = nextFF(from: position)
        continue
      }
      let code = bytes[position + 1]
      switch code {
      case 0xFF: position += 1
      case 0x00, 0x01, 0xD0...0xD8: position += 2
      default:
        position += 2
        return code
      }
    }
    return nil
  }

  private func nextFF(from start: Int) -> Int {
    UnsafeRawBufferPointer(rebasing: bytes[start...]).firstIndex(of: 0xFF).map { start + $0 }
      ?? bytes.count
  }

  private mutating func skipSegment() {
    guard position + 1 < bytes.count else { return }
    position += max(2, Int(bytes[position]) << 8 | Int(bytes[position + 1]))
  }
}
