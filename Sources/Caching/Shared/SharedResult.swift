// A result in the form in which machines share it. It comes from others, so all of it is checked: a result can name
// only files that the step declares as its outputs.

import Diagnostics
import Glibc
import Expressions
import Plans

struct SharedResult {
  let result: StoredResult
  /// The sizes of its contents, in their order.
  let sizes: [Int]

  /// A longer one is not read.
  static let longest = 64 << 20
  /// More bytes than this in one result are not fetched.
  private static let largest = 10 << 30
  private static let beginning: [UInt8] = Array("oprun shared result 1\n".utf8)
  /// The field `stdout_raw` of Bazel's `ActionResult`, which the whole is: servers that look at entries accept it.
  private static let field: UInt8 = 5 << 3 | 2

  /// The name of a result in `ac`. What is made on one kind of machine is of no use on another.
  static func name(of key: CacheDigest) -> CacheDigest {
    var builder = DigestBuilder()
    builder.add("oprun shared")
    builder.add(key)
    var system = utsname()
    if uname(&system) == 0 {
      withUnsafeBytes(of: &system.sysname) { builder.add(text($0)) }
      withUnsafeBytes(of: &system.machine) { builder.add(text($0)) }
    }
    return builder.finish()
  }

  private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }

  init(_ result: StoredResult, sizes: [Int]) {
    self.result = result
    self.sizes = sizes
  }

  /// The result as others may use it: that new files get the group of their directory is a matter of this machine.
  static func shareable(_ result: StoredResult) -> StoredResult {
    var result = result
    for index in result.files.indices where result.files[index].kind == .directory {
      result.files[index].stamp.mode &= ~0o2000
    }
    return result
  }

  func encoded(as name: CacheDigest) -> [UInt8] {
    var writer = ByteWriter()
    writer.append(Self.beginning)
    writer.add(name)
    writer.add(sizes) { $0.add($1) }
    result.write(to: &writer)
    writer.add(Self.digest(of: writer.bytes[...]))
    return [Self.field] + Self.varint(writer.bytes.count) + writer.bytes
  }

  /// Nil if the bytes are not a result of this name.
  init?(decoding bytes: [UInt8], as name: CacheDigest) {
    guard let payload = Self.payload(of: bytes), payload.starts(with: Self.beginning) else {
      return nil
    }
    let start = payload.startIndex + Self.beginning.count
    let end = payload.endIndex - CacheDigest.byteCount
    guard start <= end else { return nil }
    var trailer = ByteReader(payload[end...])
    var reader = ByteReader(payload[start..<end])
    guard let digest = try? trailer.digest(), digest == Self.digest(of: payload[..<end]),
      let found = try? reader.digest(), found == name,
      let sizes = try? reader.list(
        ofBytes: 8, { reader throws(ByteReadFailure) in try reader.number() }),
      let result = try? StoredResult(from: &reader), reader.isAtEnd,
      sizes.count == result.contents.count, sizes.allSatisfy({ (0...Self.largest).contains($0) }),
      result.log.map({ log in
        result.contents.firstIndex(of: log).map { sizes[$0] <= CacheWork.longestLog } ?? false
      }) ?? true,
      sizes.reduce(0, { min($0 + $1, Self.largest + 1) }) <= Self.largest
    else { return nil }
    self.init(result, sizes: sizes)
  }

  /// The content of the field, which must be all there is.
  private static func payload(of bytes: [UInt8]) -> ArraySlice<UInt8>? {
    guard bytes.first == field else { return nil }
    var size = 0
    for (index, byte) in bytes.dropFirst().prefix(4).enumerated() {
      size |= Int(byte & 0x7f) << (7 * index)
      if byte & 0x80 == 0 {
        let payload = bytes.dropFirst(index + 2)
        return payload.count == size ? payload : nil
      }
    }
    return nil
  }

  /// A number as Protocol Buffers have it.
  private static func varint(_ number: Int) -> [UInt8] {
    var rest = number
    var bytes: [UInt8] = []
    while rest > 0x7f {
      bytes.append(UInt8(rest & 0x7f) | 0x80)
      rest >>= 7
    }
    return bytes + [UInt8(rest)]
  }

  private static func digest(of bytes: ArraySlice<UInt8>) -> CacheDigest {
    var builder = DigestBuilder()
    bytes.withUnsafeBytes { builder.addRaw($0) }
    return builder.finish()
  }
}

// MARK: What is accepted

extension StoredResult {
  /// Whether it is one that a step with these outputs can have made.
  func isOf(outputs patterns: [String]) -> Bool {
    let patterns = patterns.map { FilePattern($0) }
    var kinds: [PathName: FileEntry.Kind] = [:]
    for entry in files {
      guard entry.isPlainOutput, patterns.contains(where: { $0.allows(entry.path) }),
        kinds.updateValue(entry.kind, forKey: PathName(entry.path)) == nil
      else { return false }
    }
    let isInOrder = zip(files, files.dropFirst()).allSatisfy { $0.path.precedesByBytes($1.path) }
    let isWhole = patterns.allSatisfy { pattern in files.contains { pattern.allows($0.path) } }
    // Nothing lies in a file, or behind a link.
    return logSize >= 0 && isInOrder && isWhole
      && files.allSatisfy { entry in
        entry.folders.allSatisfy { (kinds[PathName($0)] ?? .directory) == .directory }
      }
  }
}

extension FileEntry {
  /// Whether it is what steps make, without rights that only its owner can give.
  fileprivate var isPlainOutput: Bool {
    guard !isBehindLink, !isOnlyListed, permissions & ~0o777 == 0, !path.utf8.contains(0),
      !target.utf8.contains(0)
    else { return false }
    switch kind {
    case .file, .directory: return target.isEmpty
    case .link: return !target.isEmpty
    case .absent, .special: return false
    }
  }

  /// The directories that it is in, as far as its path names them.
  fileprivate var folders: [String] {
    path.utf8.indices.filter { path.utf8[$0] == UInt8(ascii: "/") }.map { String(path[..<$0]) }
      .filter { !$0.isEmpty }
  }
}

extension FilePattern {
  /// Whether it covers the path, and the path leads nowhere else: `build/../../x` is not in `build`.
  fileprivate func allows(_ path: String) -> Bool {
    if path == "." { return names.isEmpty && !isAbsolute }
    var parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      .map { String(Substring($0)) }[...]
    if isAbsolute, parts.first == "" { parts = parts.dropFirst() }
    guard !parts.contains(where: { $0.isEmpty || $0 == "." }), covers(path) else { return false }
    let climbs = parts.prefix { $0 == ".." }.count
    return climbs == names.prefix { $0.text == ".." }.count
      && !parts.dropFirst(climbs).contains("..")
  }
}

extension PublishedOutput {
  /// Whether a step that declares these outputs, or none, can have given it.
  func isOf(_ declared: [OutputDeclaration]?) -> Bool {
    var name = name
    guard let value = try? JSONReader.value(of: json), name.withUTF8(isIdentifier) else {
      return false
    }
    guard let declared else { return true }
    return declared.contains { $0.name == name && $0.type.includes(value) }
  }
}
