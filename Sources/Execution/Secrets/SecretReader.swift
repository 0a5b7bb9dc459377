// Reads the secrets that pipelines declare, before anything is shown. It reveals nothing about
// their values.

import Diagnostics
import Glibc
import Masking
package import Plans
import RunFiles

/// A fault of a secret, or of all together.
package struct SecretFault: Hashable, Sendable {
  /// The secret; nil for a fault of all together.
  package let name: String?
  package let message: String
  /// The help for the fault; nil if there is none.
  package var help: String?
}

/// The reason why a run cannot begin: all faults of its secrets.
package struct SecretFailure: Error, Hashable, Sendable {
  package let faults: [SecretFault]
}

/// The declared secrets that could be read, and the faults of the others.
package struct SecretReading: Sendable {
  package let secrets: Secrets
  package let faults: [SecretFault]

  /// Reads secrets. `environment` returns the bytes of a variable.
  package init(_ sources: [SecretSource], environment: (String) -> [UInt8]?) {
    var values: [String: String] = [:]
    var faults: [SecretFault] = []
    var size = 0
    for source in sources {
      do throws(SecretReadFailure) {
        let value = try value(of: source, environment)
        size += value.utf8.count
        if size <= SecretLimit.allTogether { values[source.name] = value }
      } catch {
        let isAllowed = error.isMissing && !source.isRequired
        if isAllowed { continue }
        let message = "secret \(quoted(source.name)) \(error.words)"
        let help = error.isMissing ? source.howToGive : nil
        faults.append(SecretFault(name: source.name, message: message, help: help))
      }
    }
    if size > SecretLimit.allTogether {
      let message = "all secrets together are larger than 128 KiB, which is the limit"
      faults.append(SecretFault(name: nil, message: message))
    }
    secrets = Secrets(values)
    self.faults = faults
  }

  /// All secrets that a run needs.
  package func complete() throws(SecretFailure) -> Secrets {
    guard faults.isEmpty else { throw SecretFailure(faults: faults) }
    return secrets
  }
}

extension SecretSource {
  fileprivate var howToGive: String {
    let place =
      switch location {
      case .environment: "set the variable \(name)"
      case .file(let path): "write it to \(quoted(path))"
      }
    return place + ", or let the pipeline run without it: 'required: false'"
  }
}

private enum SecretLimit {
  /// The maximum size of one secret: 64 KiB.
  static let each = 64 << 10
  /// The maximum size of all secrets together: 128 KiB. Masking that much takes some 300 MB at
  /// worst, a typical private key 8 MB.
  static let allTogether = 128 << 10
}

/// The fault of one secret; the words follow its name.
private struct SecretReadFailure: Error {
  let words: String
  var isMissing = false
}

private func value(
  of source: SecretSource, _ environment: (String) -> [UInt8]?
) throws(SecretReadFailure) -> String {
  switch source.location {
  case .environment:
    guard let bytes = environment(source.name) else {
      throw SecretReadFailure(words: "is missing: the variable is not set", isMissing: true)
    }
    guard !bytes.isEmpty else {
      throw SecretReadFailure(words: "is missing: the variable is empty", isMissing: true)
    }
    return try checked(bytes)
  case .file(let path): return try checked(try content(of: path))
  }
}

/// The content of a file without the line break at its end.
private func content(of path: String) throws(SecretReadFailure) -> [UInt8] {
  let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
  guard descriptor >= 0 else {
    guard errno == ENOENT else { throw unreadable(path) }
    throw SecretReadFailure(words: "is missing: there is no file \(quoted(path))", isMissing: true)
  }
  defer { close(descriptor) }
  var status = stat()
  guard fstat(descriptor, &status) == 0 else { throw unreadable(path) }
  guard status.st_mode & S_IFMT == S_IFREG else {
    throw SecretReadFailure(words: "cannot be read: \(quoted(path)) is not a regular file")
  }
  guard var bytes = readFully(descriptor, atMost: SecretLimit.each + 3) else {
    throw unreadable(path)
  }
  let count = bytes.count
  if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
  if count > bytes.count, bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
  guard !bytes.isEmpty else {
    throw SecretReadFailure(words: "is missing: the file \(quoted(path)) is empty", isMissing: true)
  }
  return bytes
}

private func unreadable(_ path: String) -> SecretReadFailure {
  SecretReadFailure(words: "cannot be read: \(quoted(path)): \(SystemError.reason(errno))")
}

private func checked(_ bytes: [UInt8]) throws(SecretReadFailure) -> String {
  guard bytes.count <= SecretLimit.each else {
    throw SecretReadFailure(words: "is larger than 64 KiB, which is the limit")
  }
  guard !bytes.contains(0) else { throw SecretReadFailure(words: "holds the character '\\u{0}'") }
  guard let text = String(validating: bytes, as: UTF8.self) else {
    throw SecretReadFailure(words: "is not UTF-8; encode it, for example in Base64")
  }
  let isBlank = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
  let bare = Array(bytes.drop(while: isBlank).reversed().drop(while: isBlank))
  guard characterCount(of: bare) >= Masker.fewestCharacters else {
    throw SecretReadFailure(
      words: "has fewer than 4 characters, so masking it would make the output unreadable")
  }
  return text
}
