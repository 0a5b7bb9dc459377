// Names of files as the kernel has them: any bytes but NUL and, in a name, the slash. Patterns,
// results and messages are text, which such a name need not be.

import Diagnostics
import Glibc

/// A name or a path. Two are equal only if their bytes are.
package struct FileName: Hashable {
  /// The bytes with a NUL at the end and no other.
  package let bytes: [CChar]

  package init(_ name: UnsafePointer<CChar>) {
    bytes = Array(UnsafeBufferPointer(start: name, count: strlen(name) + 1))
  }

  /// Joins parts, which have no NUL.
  package init(joining parts: [CChar]...) { bytes = parts.joined() + [0] }

  /// The path of the file with this name in a directory.
  package init(_ name: FileName, in folder: FileName) {
    self.init(
      joining: folder.characters, [CChar(bitPattern: UInt8(ascii: "/"))], name.characters)
  }

  /// The characters without the NUL.
  package var characters: [CChar] { Array(bytes.dropLast()) }

  /// The name as text; nil if it is not UTF-8.
  package var text: String? {
    bytes.withUnsafeBufferPointer { $0.baseAddress.flatMap { String(validatingCString: $0) } }
  }

  /// The name as text in which invalid UTF-8 is replaced, for patterns.
  package var lossy: String { String(decoding: plainBytes, as: UTF8.self) }

  /// The name as it may appear in a message: `'b\xff'`.
  package var quoted: String { "'\(printable(Array(plainBytes)))'" }

  private var plainBytes: some Collection<UInt8> {
    bytes.dropLast().lazy.map { UInt8(bitPattern: $0) }
  }

  /// True if the bytes of this name sort before those of the other.
  package func precedes(_ other: FileName) -> Bool {
    bytes.lexicographicallyPrecedes(other.bytes) { UInt8(bitPattern: $0) < UInt8(bitPattern: $1) }
  }
}

/// Calls `body` with each name in an open directory, which is closed, in no order. False, with
/// `errno`, if the directory cannot be listed.
package func forEachName(
  owning folder: Int32, _ body: (UnsafePointer<CChar>) -> Void
) -> Bool {
  forEachEntry(owning: folder) { name, _ in body(name) }
}

/// Calls `body` with each name in an open directory, and with its kind as the directory notes it,
/// such as `DT_DIR`; `DT_UNKNOWN` where the file system does not. Otherwise like `forEachName`.
package func forEachEntry(
  owning folder: Int32, _ body: (_ name: UnsafePointer<CChar>, _ kind: Int) -> Void
) -> Bool {
  guard let list = fdopendir(folder) else {
    let reason = errno
    close(folder)
    errno = reason
    return false
  }
  defer { closedir(list) }
  while let entry = readdir(list) {
    let kind = Int(entry.pointee.d_type)
    withUnsafePointer(to: &entry.pointee.d_name) { field in
      field.withMemoryRebound(to: CChar.self, capacity: 256) { name in
        if strcmp(name, ".") != 0, strcmp(name, "..") != 0 {
          body(name, kind)
        }
      }
    }
  }
  return true
}

/// The names in an open directory of oprun, which is closed, in no order: names that are not UTF-8
/// are not oprun's, and are left out. Nil, with `errno`, if the directory cannot be listed.
package func namesOfFiles(owning folder: Int32) -> [String]? {
  var names: [String] = []
  let isListed = forEachName(owning: folder) { name in
    if let text = String(validatingCString: name) { names.append(text) }
  }
  return isListed ? names : nil
}
