// The SHA-256 of bytes in memory.

import CCrypto

package func sha256(of bytes: [UInt8]) -> [UInt8] {
  var context = SHA256_CTX()
  ccrypto_sha256_init(&context)
  ccrypto_sha256_update(&context, bytes, bytes.count)
  var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
  ccrypto_sha256_final(&context, &digest)
  return digest
}

/// The version of the library that hashes, from its header, because its function for the version
/// would link two megabytes more.
package var hashingVersion: String { OPENSSL_VERSION_STR }
