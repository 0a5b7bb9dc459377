// libcurl, as far as downloads and shared caches need it. This is the only file that calls it. It knows
// nothing about files, caches and attempts.

import BuiltinSteps
import CLate
import Diagnostics
import Glibc

/// The user agent that servers are told.
let ownUserAgent = "\(BuiltinStep.program)/\(version)"

enum TransferMethod: Sendable {
  case get, head, put
}

/// The body of a request. It is read from its start, and again if it must be sent again.
protocol TransferSource: AnyObject, Sendable {
  var size: Int { get }
  /// Reads the next part; 0 at the end, nil if it cannot be read.
  func read(_ buffer: UnsafeMutableRawBufferPointer) -> Int?
  func rewind(to position: Int)
}

/// A request and how it is made.
struct TransferRequest: Sendable {
  var url: String
  var method = TransferMethod.get
  /// The body; nil for none.
  var source: (any TransferSource)?
  /// `name:password`; nil if the URL or `.netrc` may have them.
  var credentials: String?
  /// The headers, as `Name: value`.
  var headers: [String] = []
  var userAgent = ownUserAgent
  /// The proxy; nil leaves it to the variables that curl knows; "" means none.
  var proxy: String?
  /// True if credentials that the URL lacks may come from `.netrc`.
  var mayUseNetrc = true
  var trust = TrustStore.ofEnvironment
  /// The limit for connecting, in nanoseconds.
  var connectTimeout: Int64 = 10_000_000_000
}

/// Receives a response, on the thread that drives the transfers. Returning false ends the transfer.
protocol TransferReceiver: AnyObject, Sendable {
  func take(headerLine: UnsafeRawBufferPointer) -> Bool
  func take(body: UnsafeRawBufferPointer) -> Bool
  func mayConnect(to endpoint: Endpoint) -> Bool
  /// Called with the number of bytes of the body that have been received, before they are
  /// decompressed.
  func hasReceived(_ byteCount: Int) -> Bool
}

/// How a transfer ended, according to libcurl.
struct TransferResult: Hashable, Sendable {
  let code: UInt32
  let words: String
  /// The response of a proxy to the request for a tunnel; 0 if there was none.
  var tunnelStatus = 0
  /// True if the proxy's certificate was refused.
  var isOfProxy = false

  init(_ code: CURLcode, words: String) {
    self.code = code.rawValue
    self.words = words.isEmpty ? String(cString: ccurl_words(code)) : words
  }

  var isSuccess: Bool { code == CURLE_OK.rawValue }
  var isOutOfMemory: Bool { code == CURLE_OUT_OF_MEMORY.rawValue }
  /// The error of libcurl (7.88) for a header line with a carriage return in its name. Nothing else
  /// here makes it.
  var isOfHeaderLine: Bool { code == CURLE_BAD_FUNCTION_ARGUMENT.rawValue }
  /// True if the connection ended during the handshake of TLS.
  var hasBrokenHandshake: Bool {
    code == CURLE_SSL_CONNECT_ERROR.rawValue
      && ["SSL_ERROR_SYSCALL", "unexpected eof", "Connection reset"].contains { words.contains($0) }
  }
  var isUntrusted: Bool { code == CURLE_PEER_FAILED_VERIFICATION.rawValue }
  /// True if the receiver, or the address policy through it, refused to continue.
  var isRefusal: Bool {
    [CURLE_WRITE_ERROR, CURLE_ABORTED_BY_CALLBACK, CURLE_COULDNT_CONNECT].contains {
      $0.rawValue == code
    }
  }
  /// True if the cause may be the network, so that the failure may be temporary.
  var mayPass: Bool {
    // There is one code for a connection that broke during the handshake, and for a handshake that
    // cannot succeed. For the latter, OpenSSL says where in it the mistake was found.
    if code == CURLE_SSL_CONNECT_ERROR.rawValue, words.contains("SSL routines") {
      return hasBrokenHandshake
    }
    return [
      CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT,
      CURLE_PARTIAL_FILE, CURLE_OPERATION_TIMEDOUT, CURLE_SSL_CONNECT_ERROR, CURLE_GOT_NOTHING,
      CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM,
    ].contains { $0.rawValue == code }
  }
}

/// One request and its response. Once it has been added, it belongs to the thread that drives it.
final class Transfer: @unchecked Sendable {  // handed from thread to thread, never shared
  fileprivate let easy: UnsafeMutableRawPointer
  private let receiver: any TransferReceiver
  private let source: (any TransferSource)?
  private var headers: UnsafeMutablePointer<curl_slist>?
  private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

  /// Makes a transfer; nil if libcurl has no memory for it.
  init?(_ request: TransferRequest, to receiver: any TransferReceiver) {
    guard let easy = ccurl_easy_new() else { return nil }
    self.easy = easy
    self.receiver = receiver
    source = request.source
    errorText.pointee = 0
    setTarget(request)
    setMethod(request)
    setLimits(request)
    setCallbacks()
  }

  deinit {
    ccurl_easy_free(easy)
    ccurl_list_free(headers)
    errorText.deallocate()
  }

  private func setTarget(_ request: TransferRequest) {
    set(CURLOPT_URL, request.url)
    set(CURLOPT_USERAGENT, request.userAgent)
    // Nothing else is requested; if content is sent compressed nevertheless, the receiver
    // decompresses it.
    set(CURLOPT_ACCEPT_ENCODING, "identity")
    set(CURLOPT_HTTP_CONTENT_DECODING, 0)
    if let proxy = request.proxy {
      set(CURLOPT_PROXY, proxy)
      // The decision to use the proxy was made by whoever named it.
      set(CURLOPT_NOPROXY, "")
    }
    setTrust(request.trust)
    for header in request.headers { headers = ccurl_list_add(headers, header) }
    ccurl_set_pointer(easy, CURLOPT_HTTPHEADER, headers)
  }

  private func setMethod(_ request: TransferRequest) {
    if let credentials = request.credentials { set(CURLOPT_USERPWD, credentials) }
    switch request.method {
    case .get: break
    case .head: set(CURLOPT_NOBODY, 1)
    case .put: setSource(Unmanaged.passUnretained(self).toOpaque())
    }
  }

  private func setSource(_ context: UnsafeMutableRawPointer) {
    set(CURLOPT_UPLOAD, 1)
    set(CURLOPT_INFILESIZE_LARGE, source?.size ?? 0)
    ccurl_set_pointer(easy, CURLOPT_READDATA, context)
    ccurl_set_take(easy, CURLOPT_READFUNCTION) { bytes, size, count, context in
      let buffer = UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
      guard let source = Transfer.from(context)?.source else { return 0 }
      return source.read(buffer) ?? Int(CURL_READFUNC_ABORT)
    }
    ccurl_set_pointer(easy, CURLOPT_SEEKDATA, context)
    ccurl_set_seek(easy) { context, position, origin in
      guard origin == SEEK_SET, let source = Transfer.from(context)?.source else {
        return CURL_SEEKFUNC_CANTSEEK
      }
      source.rewind(to: Int(position))
      return CURL_SEEKFUNC_OK
    }
  }

  private func setTrust(_ trust: TrustStore) {
    if let path = trust.file {
      set(CURLOPT_CAINFO, path)
      set(CURLOPT_PROXY_CAINFO, path)
    }
    if let path = trust.folder {
      set(CURLOPT_CAPATH, path)
      set(CURLOPT_PROXY_CAPATH, path)
    }
  }

  private func setLimits(_ request: TransferRequest) {
    set(CURLOPT_PROTOCOLS_STR, "http,https")
    set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https")
    set(CURLOPT_FOLLOWLOCATION, 0)
    set(CURLOPT_NOSIGNAL, 1)
    // Otherwise the end of a transfer waits for the name service, and all other transfers with it.
    set(CURLOPT_QUICK_EXIT, 1)
    set(CURLOPT_HTTP09_ALLOWED, 0)
    let netrc = request.mayUseNetrc ? CURL_NETRC_OPTIONAL : CURL_NETRC_IGNORED
    set(CURLOPT_NETRC, Int(netrc.rawValue))
    // The headers of a proxy about a tunnel are not a response to the request.
    set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS)
    // libcurl refuses longer times and then uses its own: CURLOPT_CONNECTTIMEOUT_MS(3).
    let connectTimeout = min(Int64(Int32.max), max(1, request.connectTimeout / 1_000_000))
    set(CURLOPT_CONNECTTIMEOUT_MS, Int(connectTimeout))
    set(CURLOPT_BUFFERSIZE, 256 << 10)
    // Wait for a connection that can carry several transfers, if there may be one.
    if request.url.hasPrefix("https:") { set(CURLOPT_PIPEWAIT, 1) }
  }

  private func setCallbacks() {
    let context = Unmanaged.passUnretained(self).toOpaque()
    ccurl_set_pointer(easy, CURLOPT_PRIVATE, context)
    ccurl_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText)
    ccurl_set_pointer(easy, CURLOPT_HEADERDATA, context)
    ccurl_set_take(easy, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
      let receiver = Transfer.from(context)?.receiver
      let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
      return receiver?.take(headerLine: line) == true ? line.count : 0
    }
    ccurl_set_pointer(easy, CURLOPT_WRITEDATA, context)
    ccurl_set_take(easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
      let receiver = Transfer.from(context)?.receiver
      let body = UnsafeRawBufferPointer(start: bytes, count: size * count)
      return receiver?.take(body: body) == true ? body.count : 0
    }
    set(CURLOPT_NOPROGRESS, 0)
    ccurl_set_pointer(easy, CURLOPT_XFERINFODATA, context)
    ccurl_set_progress(easy) { context, _, received, _, _ in
      Transfer.from(context)?.receiver.hasReceived(Int(received)) == true ? 0 : 1
    }
    ccurl_set_pointer(easy, CURLOPT_OPENSOCKETDATA, context)
    ccurl_set_open_socket(easy) { context, _, address in
      guard let address, let receiver = Transfer.from(context)?.receiver,
        let endpoint = withUnsafePointer(to: &address.pointee.addr, { Endpoint($0) }),
        receiver.mayConnect(to: endpoint)
      else { return ccurl_bad_socket() }
      let flags = Int32(SOCK_CLOEXEC.rawValue)
      return socket(
        address.pointee.family, address.pointee.socktype | flags, address.pointee.protocol)
    }
  }

  private static func from(_ context: UnsafeMutableRawPointer?) -> Transfer? {
    context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
  }

  private func set(_ option: CURLoption, _ value: String) {
    // libcurl keeps a copy of strings.
    _ = value.withCString { ccurl_set_pointer(easy, option, $0) }
  }

  private func set(_ option: CURLoption, _ value: Int) { ccurl_set_long(easy, option, value) }

  fileprivate func result(_ code: CURLcode) -> TransferResult {
    var result = TransferResult(code, words: String(cString: errorText))
    var verification = 0
    ccurl_get_long(easy, CURLINFO_HTTP_CONNECTCODE, &result.tunnelStatus)
    ccurl_get_long(easy, CURLINFO_PROXY_SSL_VERIFYRESULT, &verification)
    result.isOfProxy = verification != 0
    return result
  }

  /// The absolute URL to which a 3xx response leads. Valid once the transfer has ended.
  var redirectTarget: String? {
    var text: UnsafeMutablePointer<CChar>?
    guard ccurl_get_text(easy, CURLINFO_REDIRECT_URL, &text) == CURLE_OK, let text else {
      return nil
    }
    return String(cString: text)
  }
}

/// Many simultaneous transfers. Everything except `wakeUp` is for one thread.
final class TransferSet: @unchecked Sendable {  // libcurl lets any thread call `wakeUp`
  private let multi: UnsafeMutableRawPointer

  /// Makes a set that keeps `connectionCount` connections open for further requests.
  init?(keeping connectionCount: Int) {
    guard let multi = ccurl_multi_new() else { return nil }
    self.multi = multi
    ccurl_set_multi_long(multi, CURLMOPT_MAXCONNECTS, connectionCount)
  }

  deinit { ccurl_multi_free(multi) }

  func add(_ transfer: Transfer) { ccurl_multi_add(multi, transfer.easy) }

  func remove(_ transfer: Transfer) { ccurl_multi_remove(multi, transfer.easy) }

  /// Makes a waiting `wait` return. It may be called from any thread.
  func wakeUp() { ccurl_multi_wake(multi) }

  func wait(milliseconds: Int32) { ccurl_multi_wait(multi, milliseconds) }

  /// Does what can be done without waiting; removes and returns the transfers that have ended.
  func advance() -> [(Transfer, TransferResult)] {
    ccurl_multi_perform(multi)
    var ended: [(Transfer, TransferResult)] = []
    var code = CURLE_OK
    while let easy = ccurl_multi_next_ended(multi, &code) {
      var context: UnsafeMutablePointer<CChar>?
      ccurl_get_text(easy, CURLINFO_PRIVATE, &context)
      guard let context else { continue }
      let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
      ended.append((transfer, transfer.result(code)))
    }
    for (transfer, _) in ended { remove(transfer) }
    return ended
  }
}

/// A URL split into its parts, by the parser that also makes the connections.
struct WebAddress: Hashable, Sendable {
  let scheme: String
  /// The host in lower case; an IPv6 address has no brackets.
  let host: String
  let port: Int
  let path: String
  /// The URL for messages and manifests, without the fragment and anything that gives access.
  let shown: String
  /// The user part, `name:password`, as written; nil if there is neither.
  let userInfo: String?

  /// Parses a URL; nil if it is not an absolute one.
  init?(_ text: String) {
    guard !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }), let url = ccurl_url_new() else {
      return nil
    }
    defer { ccurl_url_free(url) }
    func part(_ part: CURLUPart, _ flags: UInt32 = 0) -> String? {
      var text: UnsafeMutablePointer<CChar>?
      guard ccurl_url_get(url, part, &text, flags) == CURLUE_OK, let text else { return nil }
      defer { ccurl_free(text) }
      return String(cString: text)
    }
    guard ccurl_url_set(url, CURLUPART_URL, text, UInt32(CURLU_NON_SUPPORT_SCHEME)) == CURLUE_OK,
      let scheme = part(CURLUPART_SCHEME)
    else { return nil }
    let isWeb = scheme == "http" || scheme == "https"
    guard let host = part(CURLUPART_HOST) ?? (isWeb ? nil : "") else { return nil }
    self.scheme = scheme
    self.host = host.lowercased().filter { $0 != "[" && $0 != "]" }
    port = part(CURLUPART_PORT, UInt32(CURLU_DEFAULT_PORT)).flatMap { Int($0) } ?? 0
    path = part(CURLUPART_PATH, UInt32(CURLU_URLDECODE)) ?? "/"
    let (user, password) = (part(CURLUPART_USER), part(CURLUPART_PASSWORD))
    let isNamed = user != nil || password != nil
    userInfo = isNamed ? (user ?? "") + (password.map { ":\($0)" } ?? "") : nil
    for secret in [CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_FRAGMENT] {
      ccurl_url_set(url, secret, nil, 0)
    }
    shown = shownURL(part(CURLUPART_URL) ?? text)
  }

  var isWeb: Bool { scheme == "http" || scheme == "https" }

  /// Host and port in the form that the address policy compares.
  var authority: String { "\(host):\(port)" }

  /// The origin, to which credentials belong.
  var origin: String { "\(scheme)://\(authority)" }

  /// True if the entry of its host in `.netrc` may be sent after a redirect: never to a host that
  /// only a server has named, and not unencrypted if the first request was encrypted.
  func mayUseNetrc(after first: WebAddress) -> Bool {
    host == first.host && (scheme == first.scheme || scheme == "https")
  }

  /// The URL that a `Location` in a response of this URL refers to; nil if it is invalid.
  static func resolved(_ location: String, against base: String) -> String? {
    guard let url = ccurl_url_new() else { return nil }
    defer { ccurl_url_free(url) }
    var text: UnsafeMutablePointer<CChar>?
    let flags = UInt32(CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE | CURLU_ALLOW_SPACE)
    guard ccurl_url_set(url, CURLUPART_URL, base, flags) == CURLUE_OK,
      ccurl_url_set(url, CURLUPART_USER, nil, 0) == CURLUE_OK,
      ccurl_url_set(url, CURLUPART_PASSWORD, nil, 0) == CURLUE_OK,
      ccurl_url_set(url, CURLUPART_URL, location, flags) == CURLUE_OK,
      ccurl_url_get(url, CURLUPART_URL, &text, 0) == CURLUE_OK, let text
    else { return nil }
    defer { ccurl_free(text) }
    return String(cString: text)
  }

  /// A redirect within the same origin, with the credentials of this URL unless it has its own.
  func completed(_ target: String, _ next: WebAddress) -> String {
    guard let userInfo, next.userInfo == nil, next.origin == origin,
      let host = target.firstRange(of: "://")?.upperBound
    else { return target }
    return "\(target[..<host])\(userInfo)@\(target[host...])"
  }
}
