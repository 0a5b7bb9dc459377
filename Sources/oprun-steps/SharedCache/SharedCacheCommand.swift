// `oprun-steps shared-cache`: a process that oprun starts to talk to a shared cache. It is asked through standard
// input, line by line, and answers on standard output. docs/design-cache.md.

import Diagnostics
import Glibc

/// The word for this command, which is not in the help: oprun alone uses it.
let sharedCacheCommand = "shared-cache"

struct SharedCacheCommand {
  private var input = InputPipe()
  private let output = Output(descriptor: STDOUT_FILENO)
  private let server: SharedServer

  /// Performs requests until there are no more; returns the exit status.
  static func serve() -> Int32 {
    var input = InputPipe()
    let output = Output(descriptor: STDOUT_FILENO)
    guard let settings = input.settings() else { return ExitStatus.usage }
    do throws(SharedFailure) {
      var command = SharedCacheCommand(input, try SharedServer(settings))
      while let line = command.input.line() {
        guard command.perform(line.split(separator: " ").map(String.init)) else {
          return ExitStatus.usage
        }
      }
    } catch {
      output.write(error.line)
    }
    return ExitStatus.success
  }

  private init(_ input: InputPipe, _ server: SharedServer) {
    self.input = input
    self.server = server
  }

  /// Performs a request; false if the words are not one.
  private mutating func perform(_ words: [String]) -> Bool {
    let numbers = words.dropFirst().map { Int($0) }
    do throws(SharedFailure) {
      switch (words.first, words.count) {
      case ("get", 3):
        guard let key = Digest(words[1]), let limit = numbers[1] else { return false }
        try get(key, limit)
      case ("fetch", 2):
        guard let count = numbers[0], let wanted = input.contents(count) else { return false }
        try fetch(wanted)
      case ("store", 4), ("replace", 4):
        guard let key = Digest(words[1]), let size = numbers[1], let count = numbers[2],
          let sent = input.contents(count), let result = input.bytes(size)
        else { return false }
        try store(key, result, sent, replacing: words[0] == "replace")
      default: return false
      }
    } catch {
      output.write(error.line)
    }
    return true
  }

  /// Performs `get KEY LIMIT`: answers with the entry of `ac`.
  private func get(_ key: Digest, _ limit: Int) throws(SharedFailure) {
    var answer: [UInt8]?
    let request = SharedRequest(path: "/ac/\(key.hexadecimal)", memoryLimit: limit)
    try server.perform(count: 1) { _ in
      request
    } _: { _, _, exchange throws(SharedFailure) in
      if try exchange.isFound { answer = exchange.body }
    }
    guard let answer else { return output.write("absent\n") }
    output.write("found \(answer.count)\n")
    answer.withUnsafeBytes { output.write($0) }
  }

  /// Performs `fetch COUNT`, with a line for each content and its size: fetches those that the cache does not have.
  private func fetch(_ wanted: [(digest: Digest, size: Int)]) throws(SharedFailure) {
    var isComplete = true
    try server.perform(count: wanted.count) { index throws(SharedFailure) in
      let (digest, size) = wanted[index]
      if !isComplete || digest.isInCache { return nil }
      do throws(SystemError) {
        return SharedRequest(
          path: "/cas/\(digest.hexadecimal)", content: try ReceivedContent(digest, size: size))
      } catch { throw SharedFailure(error) }
    } _: { _, request, exchange throws(SharedFailure) in
      if try exchange.isFound { try request.content?.place() } else { isComplete = false }
    }
    output.write(isComplete ? "done\n" : "absent\n")
  }

  /// Performs `store KEY SIZE COUNT`, with a line for each content, and the entry of `ac`, which is
  /// sent last. `replace` is the same, but everything is sent, because the contents of the server
  /// are damaged.
  private func store(
    _ key: Digest, _ result: [UInt8], _ contents: [(digest: Digest, size: Int)], replacing: Bool
  ) throws(SharedFailure) {
    var missing = replacing ? contents.map(\.digest) : []
    try server.perform(count: replacing ? 0 : contents.count) { index in
      SharedRequest(path: "/cas/\(contents[index].digest.hexadecimal)", method: .head)
    } _: { index, _, exchange in
      let (digest, size) = contents[index]
      // A server that does not know HEAD is sent everything.
      if exchange.head.status != 200 || !exchange.head.mayBeOf(size) { missing.append(digest) }
    }
    try server.perform(count: missing.count) { index throws(SharedFailure) in
      guard let source = SentContent(missing[index]) else {
        throw SharedFailure("cannot be stored: a file of the result is no longer in the cache")
      }
      return SharedRequest(
        path: "/cas/\(missing[index].hexadecimal)", method: .put, source: source)
    } _: { _, _, exchange throws(SharedFailure) in
      try exchange.checkTaken()
    }
    let last = SharedRequest(
      path: "/ac/\(key.hexadecimal)", method: .put, source: SentContent(result))
    try server.perform(count: 1) { _ in
      last
    } _: { _, _, exchange throws(SharedFailure) in
      try exchange.checkTaken()
    }
    output.write("done\n")
  }
}

extension ResponseHead {
  /// Whether the content may have this size.
  fileprivate func mayBeOf(_ size: Int) -> Bool {
    encoding != nil || contentLength.map { $0 == size } ?? true
  }
}

extension SharedExchange {
  /// True if the server has the content; throws if it does not say.
  fileprivate var isFound: Bool {
    get throws(SharedFailure) {
      switch head.status {
      case 200: return true
      case 404, 410: return false
      default: throw SharedFailure(statusWords)
      }
    }
  }

  fileprivate func checkTaken() throws(SharedFailure) {
    switch head.status {
    case 200...204: return
    case 401, 403, 405, 501:
      throw SharedFailure("takes no results: \(statusWords)", isRefusal: true)
    default: throw SharedFailure(statusWords)
    }
  }

  private var statusWords: String {
    if (300...399).contains(head.status) {
      return "answers \(head.status), a redirect, which is not followed"
    }
    return ItemFailure.answer(head, now: calendarTime()).message
  }
}

extension SharedFailure {
  /// The line that reports the failure.
  fileprivate var line: String {
    let kind = isRefusal ? "refused" : isDamage ? "damaged" : "failed"
    return "\(kind) \(shortened(withoutHidden(message), to: 500))\n"
  }
}

/// Standard input.
private struct InputPipe {
  private var bytes: [UInt8] = []
  private var position = 0
  /// The largest number of contents in one request.
  private static let contentLimit = 1_000_000

  /// The settings in the first lines; nil if they are missing.
  mutating func settings() -> SharedServerSettings? {
    guard let url = line(), let secret = line(), let limits = line() else { return nil }
    let numbers = limits.split(separator: " ").compactMap { Int64($0) }
    guard numbers.count == 3 else { return nil }
    return SharedServerSettings(
      url: url, secret: secret.isEmpty ? nil : secret, connectTimeout: numbers[0] * 1_000_000,
      stall: numbers[1] * 1_000_000, slowness: numbers[2] * 1_000_000)
  }

  /// The next line; nil if there is none.
  mutating func line() -> String? {
    var scanned = position
    while true {
      if let end = bytes[scanned...].firstIndex(of: UInt8(ascii: "\n")) {
        defer { position = end + 1 }
        return String(decoding: bytes[position..<end], as: UTF8.self)
      }
      scanned = bytes.count
      guard readMore() else { return nil }
      scanned = min(scanned, bytes.count)
    }
  }

  mutating func bytes(_ count: Int) -> [UInt8]? {
    guard count >= 0 else { return nil }
    while bytes.count - position < count { guard readMore() else { return nil } }
    defer { position += count }
    return Array(bytes[position..<position + count])
  }

  /// The contents in lines of digests and sizes.
  mutating func contents(_ count: Int) -> [(digest: Digest, size: Int)]? {
    guard (0...Self.contentLimit).contains(count) else { return nil }
    var contents: [(digest: Digest, size: Int)] = []
    for _ in 0..<count {
      guard let words = line()?.split(separator: " "), words.count == 2,
        let digest = Digest(String(words[0])), let size = Int(words[1]), size >= 0
      else { return nil }
      contents.append((digest, size))
    }
    return contents
  }

  private mutating func readMore() -> Bool {
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(STDIN_FILENO, &piece, piece.count)
      if count > 0 {
        bytes += piece[..<count]
        return true
      }
      if count == 0 || errno != EINTR { return false }
    }
  }
}
