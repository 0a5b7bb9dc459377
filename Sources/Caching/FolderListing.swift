// The names in a directory. Linux allows any bytes in them, and patterns, results and messages are text.

import Diagnostics
import Glibc

struct FolderListing {
  /// Sorted bytewise.
  private(set) var names: [String] = []
  /// Those that are no text.
  private(set) var odd: [OddName] = []

  init() {}

  /// Lists an open directory, which is closed. Nil, with `errno`, if it cannot be listed.
  init?(owning folder: Int32) {
    guard let list = fdopendir(folder) else {
      let reason = errno
      close(folder)
      errno = reason
      return nil
    }
    defer { closedir(list) }
    while let entry = readdir(list) {
      withUnsafePointer(to: &entry.pointee.d_name) { field in
        field.withMemoryRebound(to: CChar.self, capacity: 256) { add($0) }
      }
    }
    names.sort { $0.precedesByBytes($1) }
  }

  private mutating func add(_ name: UnsafePointer<CChar>) {
    guard let text = String(validatingCString: name) else {
      let bytes = UnsafeBufferPointer(start: name, count: strlen(name))
      return odd.append(OddName(bytes: bytes.map { UInt8(bitPattern: $0) }))
    }
    if text != ".", text != ".." { names.append(text) }
  }
}

/// A name that is not UTF-8. A step that reads or makes such a file is not cached.
struct OddName {
  let bytes: [UInt8]

  /// Something that is like it, for patterns.
  var lossy: String { String(decoding: bytes, as: UTF8.self) }

  /// Whether one name of a pattern matches it; `**` matches every directory and every file.
  func isMatched(by pattern: String) -> Bool {
    if pattern == "**" { return bytes.first != UInt8(ascii: ".") }
    return (bytes + [0]).withUnsafeBytes { buffer in
      buffer.withMemoryRebound(to: CChar.self) { name in
        name.baseAddress.map { fnmatch(pattern, $0, FNM_PERIOD) == 0 } ?? false
      }
    }
  }

  func fault(in folder: String) -> CacheFault {
    let escaped = bytes.map { byte in
      byte < 0x80
        ? String(UnicodeScalar(byte)) : "\\x" + String(byte, radix: 16)
    }
    let path = folder == "." ? "" : folder.hasSuffix("/") ? folder : folder + "/"
    return CacheFault("the name of \(quoted(path + escaped.joined())) is not UTF-8")
  }
}
