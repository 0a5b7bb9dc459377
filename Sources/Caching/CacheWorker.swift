// A process of oprun that does the work of the cache, so that the loop goes on. It is asked and answers
// through pipes, one job at a time.

import CLinux
package import Diagnostics
import Glibc

package final class CacheWorker {
  package let processID: Int32
  /// Its answers come from here; close-on-exec, and never waited for.
  package let output: Int32
  private let input: Int32
  private var said: [UInt8] = []
  /// True if it will not answer any more.
  package private(set) var isGone = false

  private init(processID: Int32, input: Int32, output: Int32) {
    self.processID = processID
    self.input = input
    self.output = output
  }

  /// Ends the process, which ends by itself when it can no longer be asked.
  deinit {
    close(input)
    close(output)
    kill(processID, SIGKILL)
  }

  package static func start(
    _ cache: CacheFolder, _ shared: SharedCache? = nil
  ) throws(SystemError) -> CacheWorker {
    var questions: [Int32] = [0, 0]
    var answers: [Int32] = [0, 0]
    guard pipe(&questions) == 0 else {
      throw SystemError("cannot start a process for the cache", errno: errno)
    }
    guard pipe(&answers) == 0 else {
      let error = SystemError("cannot start a process for the cache", errno: errno)
      for end in questions { close(end) }
      throw error
    }
    for end in questions + answers { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let parent = getpid()
    let process = clinux_fork()
    if process == 0 { serve(questions[0], answers[1], CacheWork(cache, shared), cache, parent) }
    let error = errno
    close(questions[0])
    close(answers[1])
    guard process > 0 else {
      close(questions[1])
      close(answers[0])
      throw SystemError("cannot start a process for the cache", errno: error)
    }
    _ = fcntl(answers[0], F_SETFL, O_NONBLOCK)
    return CacheWorker(processID: process, input: questions[1], output: answers[0])
  }

  /// Gives it a job. It has none, so it takes it at once. False if it is gone.
  package func ask(_ job: CacheJob) -> Bool { Self.send(job.encoded, to: input) }

  /// Reads the available part of the answer; returns it once it is complete.
  package func take() -> CacheReply? {
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(output, &piece, piece.count)
      if count > 0 {
        said += piece[..<count]
      } else if count == 0 {
        isGone = true
        return .fault(CacheFault("the process that looks at files was killed"))
      } else if errno != EINTR {
        break
      }
    }
    var reader = ByteReader(said[...])
    guard let size = try? reader.number(), said.count - 8 >= size else { return nil }
    defer { said = [] }
    return (try? CacheReply(decoding: said[8...])) ?? .fault(CacheFault("an answer is damaged"))
  }

  private static func send(_ bytes: [UInt8], to pipe: Int32) -> Bool {
    var writer = ByteWriter()
    writer.add(bytes.count)
    let message = writer.bytes + bytes
    var sent = 0
    while sent < message.count {
      let count = message.withUnsafeBytes { buffer in
        write(pipe, buffer.baseAddress.map { $0 + sent }, message.count - sent)
      }
      if count > 0 { sent += count } else if errno != EINTR { return false }
    }
    return true
  }

  // MARK: In the new process

  private static func serve(
    _ questions: Int32, _ answers: Int32, _ work: CacheWork, _ cache: CacheFolder, _ parent: Int32
  ) -> Never {
    clinux_end_with_parent()
    if getppid() != parent { _exit(1) }
    clinux_set_name("oprun-cache")
    signal(SIGPIPE, SIG_IGN)
    let null = open("/dev/null", O_RDWR)
    for stream: Int32 in 0...2 { dup2(null, stream) }
    // What oprun has open is closed, but for these three: steps wait for the ends of pipes.
    closeAll(from: 3, but: [questions, answers, cache.descriptor])
    clinux_prepare_hashing()
    var work = work
    while let bytes = receive(questions) {
      guard let job = try? CacheJob(decoding: bytes), send(work.perform(job).encoded, to: answers)
      else { break }
    }
    _exit(0)
  }

  private static func closeAll(from first: Int32, but kept: Set<Int32>) {
    guard let list = opendir("/proc/self/fd") else { return }
    var numbers: [Int32] = []
    while let entry = readdir(list) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { field in
        field.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if let number = Int32(name), number >= first, !kept.contains(number) {
        numbers.append(number)
      }
    }
    closedir(list)
    for number in numbers { close(number) }
  }

  private static func receive(_ pipe: Int32) -> [UInt8]? {
    guard let head = receive(pipe, count: 8) else { return nil }
    var reader = ByteReader(head[...])
    guard let size = try? reader.number(), size >= 0 else { return nil }
    return receive(pipe, count: size)
  }

  private static func receive(_ pipe: Int32, count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    var received = 0
    while received < count {
      let step = bytes.withUnsafeMutableBytes { buffer in
        read(pipe, buffer.baseAddress.map { $0 + received }, count - received)
      }
      if step == 0 { return nil }
      if step > 0 { received += step } else if errno != EINTR { return nil }
    }
    return bytes
  }
}
