// The SHA-256 of files, for `hashFiles`.

import CCrypto
import CLinux
import Diagnostics
package import Expressions
import Glibc
import RunFiles

package enum FileHashes {
  /// The hash, computed at once, for callers who can wait.
  package static func digest(of patterns: [String]) -> Result<String, UnlocatedFailure> {
    do throws(UnlocatedFailure) {
      return .success(try hash(of: patterns))
    } catch {
      return .failure(error)
    }
  }

  /// The hash of the files that match, in hexadecimal: it covers path, a NUL and the hash of the
  /// content, for each file in order. Empty if there is no file.
  static func hash(of patterns: [String]) throws(UnlocatedFailure) -> String {
    let paths = files(matching: patterns)
    if paths.isEmpty { return "" }
    clinux_prepare_hashing()
    var whole = SHA256_CTX()
    ccrypto_sha256_init(&whole)
    for path in paths {
      path.bytes.withUnsafeBytes { name in
        ccrypto_sha256_update(&whole, name.baseAddress, name.count)
      }
      let content = try hash(ofFile: path)
      ccrypto_sha256_update(&whole, content, content.count)
    }
    return final(&whole).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  private static func hash(ofFile path: FileName) throws(UnlocatedFailure) -> [UInt8] {
    // A file may have been replaced by a FIFO, which may never get a writer.
    let file = open(path.bytes, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard file >= 0 else { throw unreadable(path) }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { throw unreadable(path) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw UnlocatedFailure("cannot read \(path.quoted): it is not a regular file")
    }
    var context = SHA256_CTX()
    ccrypto_sha256_init(&context)
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(file, &buffer, buffer.count)
      if count == 0 { return final(&context) }
      if count > 0 {
        ccrypto_sha256_update(&context, buffer, count)
      } else if errno != EINTR {
        throw unreadable(path)
      }
    }
  }

  private static func final(_ context: inout SHA256_CTX) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
    ccrypto_sha256_final(&context, &digest)
    return digest
  }

  private static func unreadable(_ path: FileName) -> UnlocatedFailure {
    UnlocatedFailure("cannot read \(path.quoted): \(SystemError.reason(errno))")
  }
}
