// The cache that several machines share: where it is, what a run may do with it, and what it has learnt of it.

import Diagnostics
import Glibc

/// A server with the layout of Bazel's HTTP cache.
package struct SharedCache: Hashable, Sendable {
  /// The URL before `/ac/…` and `/cas/…`.
  package var url: String
  /// `name:password` or a token; nil leaves it to the URL and to `.netrc`.
  package var secret: String?
  /// True if results are stored in it, too.
  package var isWritten: Bool
  /// The path of `oprun-steps`, which makes the transfers.
  package var program: String

  package init(url: String, secret: String?, isWritten: Bool, program: String) {
    self.url = url
    self.secret = secret
    self.isWritten = isWritten
    self.program = program
  }
}

/// How a request to a shared cache ended.
package enum SharedEnd: Hashable {
  case done
  /// The server does not have it.
  case absent
  case failed(String)
  /// The server has a content that is not what its name says.
  case damaged(String)
  /// The server may be read, but takes nothing.
  case refused(String)
}

/// The shared cache in one run: a server that is of no use is left alone after some failures.
struct SharedUse {
  private let url: String
  private(set) var isRead = true
  private(set) var isWritten: Bool
  private var failureCount = 0
  private var wasTold = false
  private static let failureLimit = 3
  /// How long requests have taken that brought nothing, beyond what is usual, in nanoseconds.
  private var lostTime: Int64 = 0
  private static let lostTimeLimit: Int64 = 30_000_000_000
  private static let usualTime: Int64 = 250_000_000

  init(_ cache: SharedCache) {
    url = shownURL(cache.url)
    isWritten = cache.isWritten
  }

  /// Takes note of the end of a request for a result, and of how long it has taken in nanoseconds; returns what people
  /// are told of it. A server that brings results may take its time.
  mutating func hear(_ end: SharedEnd, after time: Int64) -> String? {
    if end == .done {
      lostTime = max(0, lostTime - time)
    } else {
      lostTime += max(0, time - Self.usualTime)
    }
    let message = hear(end)
    guard isRead, lostTime > Self.lostTimeLimit else { return message }
    isRead = false
    defer { wasTold = true }
    return wasTold ? nil : words("is too slow")
  }

  /// Takes note of the end of a request; returns what people are told of it.
  mutating func hear(_ end: SharedEnd) -> String? {
    switch end {
    case .done, .absent:
      failureCount = 0
      return nil
    case .failed(let message), .damaged(let message):
      failureCount += 1
      if failureCount >= Self.failureLimit {
        isRead = false
        isWritten = false
      }
      defer { wasTold = true }
      return wasTold ? nil : words(message)
    case .refused(let message):
      defer { isWritten = false }
      return isWritten && !wasTold ? words(message) : nil
    }
  }

  private func words(_ message: String) -> String { "shared cache \(quoted(url)): \(message)" }
}

extension ByteWriter {
  mutating func add(_ end: SharedEnd) {
    let (kind, message): (UInt8, String) =
      switch end {
      case .done: (0, "")
      case .absent: (1, "")
      case .failed(let message): (2, message)
      case .refused(let message): (3, message)
      case .damaged(let message): (4, message)
      }
    add(kind)
    add(message)
  }
}

extension ByteReader {
  mutating func sharedEnd() throws(ByteReadFailure) -> SharedEnd {
    let kind = try byte()
    let message = try text()
    switch kind {
    case 0: return .done
    case 1: return .absent
    case 2: return .failed(message)
    case 3: return .refused(message)
    case 4: return .damaged(message)
    default: throw ByteReadFailure()
    }
  }
}
