// Talks to a shared cache, in a process of the cache: `oprun-steps`, which has the library for it, makes the
// transfers. What it brings is kept like what a step has made, and checked again when it is restored.

import CLinux
import Diagnostics
import Glibc
import RunFiles

final class SharedClient {
  private let cache: CacheFolder
  private let shared: SharedCache
  private var program: Connection?

  /// The longest times in milliseconds to wait for a connection, for progress, and for a server that is slow.
  private static let limits = "5000 10000 30000"

  /// The program did not answer.
  private struct NoAnswerFailure: Error {}

  private struct Connection {
    let process: Int32
    let input: Int32
    let output: Int32
    /// The messages of the program.
    let errors: Int32
    var said: [UInt8] = []
  }

  init(_ cache: CacheFolder, _ shared: SharedCache) {
    self.cache = cache
    self.shared = shared
  }

  /// Brings a result, and the contents of it that the cache lacks.
  func fetch(_ key: CacheDigest, outputs: [String]) -> SharedEnd {
    let name = SharedResult.name(of: key)
    return talk { client throws(NoAnswerFailure) in
      try client.say("get \(name.hexadecimal) \(SharedResult.longest)\n")
      let words = try client.answer()
      guard words.first == "found", words.count == 2, let size = Int(words[1]),
        (0...SharedResult.longest).contains(size)
      else { return try Self.end(words) }
      let bytes = try client.receive(size)
      guard let found = SharedResult(decoding: bytes, as: name),
        found.result.isOf(outputs: outputs)
      else { return .failed("sends a damaged result for \(quoted("/ac/\(name.hexadecimal)"))") }
      let end = try client.fetchContents(of: found)
      // If it cannot be written, it is not found.
      if end == .done { try? client.cache.write(found.result, of: key) }
      return end
    }
  }

  private func fetchContents(of found: SharedResult) throws(NoAnswerFailure) -> SharedEnd {
    let contents = found.result.contents
    if contents.isEmpty { return .done }
    let lines = zip(contents, found.sizes).map { "\($0.hexadecimal) \($1)\n" }.joined()
    try say("fetch \(contents.count)\n\(lines)")
    return try Self.end(answer())
  }

  /// Stores a result that the cache has, unless it is one that nobody would accept, such as one with a setuid file.
  /// `replacing` says that the server has a part of it that is damaged.
  func store(_ key: CacheDigest, outputs: [String], replacing: Bool) -> SharedEnd {
    guard let result = cache.result(of: key).map(SharedResult.shareable) else { return .absent }
    let sizes = result.contents.map { cache.size(of: $0) }
    guard !sizes.contains(where: { $0 < 0 }) else { return .absent }
    let name = SharedResult.name(of: key)
    let bytes = SharedResult(result, sizes: sizes).encoded(as: name)
    guard bytes.count <= SharedResult.longest, SharedResult(decoding: bytes, as: name) != nil,
      result.isOf(outputs: outputs)
    else { return .absent }
    let lines = zip(result.contents, sizes).map { "\($0.hexadecimal) \($1)\n" }.joined()
    return talk { client throws(NoAnswerFailure) in
      let verb = replacing ? "replace" : "store"
      try client.say("\(verb) \(name.hexadecimal) \(bytes.count) \(sizes.count)\n\(lines)")
      try client.send(bytes)
      return try Self.end(client.answer())
    }
  }

  // MARK: The conversation

  private func talk(_ body: (SharedClient) throws(NoAnswerFailure) -> SharedEnd) -> SharedEnd {
    do throws(NoAnswerFailure) {
      if program == nil { try start() }
      return try body(self)
    } catch {
      let reason = complaint
      close()
      return .failed("cannot be used: \(reason)")
    }
  }

  private static func end(_ words: [String]) throws(NoAnswerFailure) -> SharedEnd {
    let message = words.dropFirst().joined(separator: " ")
    switch words.first {
    case "done": return .done
    case "absent": return .absent
    case "failed": return .failed(message)
    case "damaged": return .damaged(message)
    case "refused": return .refused(message)
    default: throw NoAnswerFailure()
    }
  }

  /// The words of the next line.
  private func answer() throws(NoAnswerFailure) -> [String] {
    while true {
      if let said = program?.said, let end = said.firstIndex(of: UInt8(ascii: "\n")) {
        program?.said.removeFirst(end + 1)
        return String(decoding: said[..<end], as: UTF8.self).split(separator: " ").map(String.init)
      }
      try receiveMore()
    }
  }

  private func receive(_ count: Int) throws(NoAnswerFailure) -> [UInt8] {
    while let said = program?.said.count, said < count { try receiveMore() }
    guard let said = program?.said else { throw NoAnswerFailure() }
    program?.said.removeFirst(count)
    return Array(said[..<count])
  }

  private func receiveMore() throws(NoAnswerFailure) {
    guard let output = program?.output else { throw NoAnswerFailure() }
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(output, &piece, piece.count)
      if count > 0 {
        program?.said += piece[..<count]
        return
      }
      if count == 0 || errno != EINTR { throw NoAnswerFailure() }
    }
  }

  private func say(_ text: String) throws(NoAnswerFailure) { try send(Array(text.utf8)) }

  private func send(_ bytes: [UInt8]) throws(NoAnswerFailure) {
    guard let input = program?.input, writeFully(bytes, to: input) else { throw NoAnswerFailure() }
  }

  // MARK: The program

  private func start() throws(NoAnswerFailure) {
    var ends: [Int32] = []
    for _ in 0..<3 {
      var pair: [Int32] = [0, 0]
      guard pipe(&pair) == 0 else { throw NoAnswerFailure() }
      ends += pair
    }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let parent = getpid()
    let process = clinux_fork()
    if process == 0 { execute(ends, parent: parent) }
    for end in [ends[0], ends[3], ends[5]] { Glibc.close(end) }
    guard process > 0 else {
      for end in [ends[1], ends[2], ends[4]] { Glibc.close(end) }
      throw NoAnswerFailure()
    }
    program = Connection(process: process, input: ends[1], output: ends[2], errors: ends[4])
    try say("\(shared.url)\n\(shared.secret ?? "")\n\(Self.limits)\n")
  }

  /// Ends the program.
  func close() {
    guard let program else { return }
    for end in [program.input, program.output, program.errors] { Glibc.close(end) }
    kill(program.process, SIGKILL)
    while waitpid(program.process, nil, 0) < 0, errno == EINTR {}
    self.program = nil
  }

  /// The first line that it wrote to standard error.
  private var complaint: String {
    guard let program else { return SystemError.reason(errno) }
    kill(program.process, SIGKILL)
    var bytes = [UInt8](repeating: 0, count: 1 << 10)
    let count = read(program.errors, &bytes, bytes.count)
    let line = bytes[..<max(0, count)].split(separator: UInt8(ascii: "\n")).first ?? []
    return line.isEmpty
      ? "\(quoted(shared.program)) does not answer"
      : shortened(String(decoding: line, as: UTF8.self), to: 200)
  }

  /// Runs in the new process.
  private func execute(_ ends: [Int32], parent: Int32) -> Never {
    clinux_end_with_parent()
    if getppid() != parent { _exit(1) }
    for (end, stream) in [(ends[0], Int32(0)), (ends[3], 1), (ends[5], 2)] { dup2(end, stream) }
    // The program finds the cache here. A descriptor that has the number already would be closed otherwise.
    dup2(cache.descriptor, 3)
    _ = fcntl(3, F_SETFD, 0)
    var words: [UnsafeMutablePointer<CChar>?] =
      [shared.program, "shared-cache"].map { (word: String) in strdup(word) } + [nil]
    execv(shared.program, &words)
    let reason = "cannot start \(quoted(shared.program)): \(SystemError.reason(errno))"
    _ = reason.withCString { write(2, $0, strlen($0)) }
    _exit(127)
  }
}
