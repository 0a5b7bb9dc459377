// One request and its response: decides by the head what happens to the body, and writes it into a
// part file. It knows neither redirects nor attempts.

import Diagnostics
import Synchronization

/// The limits of one response.
struct ExchangeTerms: Sendable {
  let key: Digest
  let address: WebAddress
  let maxBytes: Int
  let policy: AddressPolicy
  /// The proxy that makes the connection; nil if there is none.
  let proxy: String?
}

/// Receives a response. Everything happens on the thread that drives the transfers, and its results
/// are read when the transfer has ended.
final class Exchange: TransferReceiver, @unchecked Sendable {  // read when it is over
  private enum Use { case undecided, content, ignored }

  let terms: ExchangeTerms
  private let part: PartFile
  private let meter: Meter
  private(set) var head = ResponseHead()
  private(set) var failure: ItemFailure?
  /// Why no connection was made.
  private(set) var objection: ItemFailure?
  private var use = Use.undecided
  private var ignoredCount = 0
  /// The number of expected bytes that have not come; negative if more have come.
  private var outstanding = 0
  private var expectedSize: Int?
  private var decoder: ContentDecoder?

  /// A longer body of a response that is not a content is not read: the connection is closed
  /// instead.
  private static let ignoredLimit = 64 << 10

  init(_ terms: ExchangeTerms, into part: PartFile, _ meter: Meter) {
    self.terms = terms
    self.part = part
    self.meter = meter
  }

  func mayConnect(to endpoint: Endpoint) -> Bool {
    // Through a proxy, nothing else is connected to, and the user has set it.
    guard terms.proxy == nil,
      let reservation = terms.policy.objection(to: endpoint, for: terms.address.authority)
    else { return true }
    objection = .forbidden(terms.address, endpoint.address, reservation)
    return false
  }

  func take(headerLine: UnsafeRawBufferPointer) -> Bool {
    // Trailers come after the content. They have no meaning here, but their bytes count.
    if use != .undecided { return head.count(headerLine) || refuse(.tooManyHeaders()) }
    guard head.take(headerLine) else { return refuse(.tooManyHeaders()) }
    let isLast = headerLine.allSatisfy { $0 == 0x0d || $0 == 0x0a }
    return isLast && head.status >= 200 ? decide() : true
  }

  /// Called when the head is complete.
  private func decide() -> Bool {
    do throws(SystemError) {
      if head.status == 200 || head.status == 206, let text = head.invalidLength {
        return refuse(.invalidLength(text))
      }
      switch head.status {
      case 200: return try beginContent()
      case 206: return continueContent()
      case 416 where part.size > 0: return try startOver()
      default: use = .ignored
      }
      return true
    } catch { return refuse(.system(error)) }
  }

  private func beginContent() throws(SystemError) -> Bool {
    use = .content
    if part.size > 0 || part.origin != nil { try part.restart() }
    if let name = head.encoding {
      decoder = ContentDecoder(name)
      if decoder == nil { return refuse(.unknownEncoding(name)) }
    }
    let length = head.isEncoded ? nil : head.contentLength
    if let length, length > terms.maxBytes { return refuse(.tooLong(terms.maxBytes)) }
    expectedSize = length
    expect(length ?? 0)
    if let validator = head.strongValidator {
      part.begin(PartOrigin(key: terms.key, validator: validator, total: length))
    }
    return true
  }

  private func continueContent() -> Bool {
    guard let origin = part.origin, part.size > 0 else {
      return refuse(.unwantedRange(head["content-range"]))
    }
    guard let range = head.contentRange, !head.isEncoded, range.first == part.size,
      range.total == nil || range.total == range.end,
      origin.total == nil || range.total == nil || origin.total == range.total,
      head["etag"] == nil || head["etag"] == origin.validator
    else { return refuse(.wrongRange(wanted: part.size, found: head["content-range"])) }
    guard range.end <= terms.maxBytes else { return refuse(.tooLong(terms.maxBytes)) }
    use = .content
    expectedSize = range.end
    expect(range.end - part.size)
    return true
  }

  /// Starts over, because the existing part may be complete or useless, which cannot be determined.
  private func startOver() throws(SystemError) -> Bool {
    let size = part.size
    try part.restart()
    return refuse(.noSuchRange(from: size))
  }

  func take(body: UnsafeRawBufferPointer) -> Bool {
    guard use == .content else {
      ignoredCount += body.count
      return ignoredCount <= Self.ignoredLimit
    }
    meter.add(body.count)
    outstanding -= body.count
    guard let decoder else { return append(body) }
    switch decoder.decode(body, append) {
    case .taken: return true
    case .refused: return false
    case .damaged: return refuse(.damagedEncoding(head.encoding))
    }
  }

  private func expect(_ byteCount: Int) {
    meter.expect(byteCount)
    outstanding = byteCount
  }

  /// Called when the transfer has ended, in any way: bytes that have not come are no longer
  /// expected, and bytes that came unannounced are no longer a surplus.
  func close() {
    meter.expect(-outstanding)
    outstanding = 0
  }

  private func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard part.size + bytes.count <= terms.maxBytes else { return refuse(.tooLong(terms.maxBytes)) }
    do throws(SystemError) { try part.append(bytes) } catch { return refuse(.system(error)) }
    return true
  }

  func hasReceived(_ byteCount: Int) -> Bool {
    use != .content || byteCount <= terms.maxBytes || refuse(.tooLong(terms.maxBytes))
  }

  private func refuse(_ failure: ItemFailure) -> Bool {
    if self.failure == nil { self.failure = failure }
    return false
  }

  /// The fault of content that libcurl considers complete; nil if there is none.
  var incompleteness: ItemFailure? {
    if let decoder, !decoder.isAtEnd { return .cutEncoding(head.encoding) }
    guard let expectedSize, expectedSize != part.size else { return nil }
    return .wrongLength(wanted: expectedSize, found: part.size)
  }

  /// True if the end of the content can be distinguished from a truncation.
  var isLengthKnown: Bool {
    expectedSize != nil || decoder != nil || head.isChunked || head.isFramed
  }
}

/// Counts bytes as they are received, for the progress.
final class Meter: Sendable {
  private let bytes = Atomic<Int>(0)
  private let expected = Atomic<Int>(0)

  func add(_ count: Int) { bytes.wrappingAdd(count, ordering: .relaxed) }

  /// Adds a length that has become known. Lengths are what servers say, so their sum may be too large
  /// for a while.
  func expect(_ count: Int) { expected.wrappingAdd(count, ordering: .relaxed) }

  var expectedByteCount: Int { max(0, expected.load(ordering: .relaxed)) }

  var byteCount: Int { bytes.load(ordering: .relaxed) }
}
