// A process of oprun that does the work of the cache, so that the loop goes on. It is asked and answers
// through pipes, one job at a time.

import CLinux
package import Diagnostics
import Glibc
import Processes
import RunFiles

package final class CacheWorker {
  package let processID: Int32
  /// Its answers come from here; close-on-exec, and never waited for.
  package let output: Int32
  private let input: Int32
  private var said: [UInt8] = []
  /// True if it will not answer any more.
  package private(set) var isGone = false
  /// True if nobody wants its answers any more.
  private var isEnded = false

  private init(processID: Int32, input: Int32, output: Int32) {
    self.processID = processID
    self.input = input
    self.output = output
  }

  /// True if it has no job, so that it ends when it is asked for nothing.
  private var isIdle = false

  deinit {
    // That the pipe is closed would be seen only when no process that was just forked has its other end.
    if isIdle { _ = Self.send([], to: input) }
    close(input)
    close(output)
    if !isIdle { kill(processID, SIGKILL) }
  }

  /// Called before it is forgotten, if it has no job.
  package func dismiss() { isIdle = true }

  /// Ends it, whatever it does, and waits until it and its helpers have ended, unless the kernel makes one of them wait
  /// for long. That is seen from its output in any case.
  package func end() {
    isEnded = true
    kill(processID, SIGKILL)
    var pipe = pollfd(fd: output, events: 0, revents: 0)
    while poll(&pipe, 1, 1000) < 0, errno == EINTR {}
  }

  package static func start(
    _ cache: CacheFolder, _ shared: SharedCache? = nil
  ) throws(SystemError) -> CacheWorker {
    let purpose = "start a process for the cache"
    let questions = try OwnProcess.pipe(purpose)
    var unused = [questions.outlet]
    var own = [questions.inlet]
    defer { for end in unused { close(end) } }
    do throws(SystemError) {
      let answers = try OwnProcess.pipe(purpose)
      unused.append(answers.inlet)
      own.append(answers.outlet)
      let process = try OwnProcess.start(
        purpose, named: "oprun-cache",
        keeping: [questions.outlet, answers.inlet, cache.descriptor] + cache.lockFile
      ) { serve(questions.outlet, answers.inlet, CacheWork(cache, shared)) }
      _ = fcntl(answers.outlet, F_SETFL, O_NONBLOCK)
      return CacheWorker(processID: process, input: questions.inlet, output: answers.outlet)
    } catch {
      for end in own { close(end) }
      throw error
    }
  }

  /// Gives it a job. It has none, so it takes it at once. False if it is gone.
  package func ask(_ job: CacheJob) -> Bool { Self.send(job.encoded, to: input) }

  /// Reads the available part of the answer; returns it once it is complete.
  package func take() -> CacheReply? {
    guard readAvailable(from: output, into: &said) else {
      isGone = true
      return .fault(CacheFailure("the process that looks at files was killed"))
    }
    if isEnded { return nil }
    var reader = ByteReader(said[...])
    guard let size = try? reader.number(), said.count - 8 >= size else { return nil }
    defer { said = [] }
    return (try? CacheReply(decoding: said[8...])) ?? .fault(CacheFailure("an answer is damaged"))
  }

  private static func send(_ bytes: [UInt8], to pipe: Int32) -> Bool {
    var writer = ByteWriter()
    writer.add(bytes.count)
    return writeFully(writer.bytes + bytes, to: pipe)
  }

  // MARK: In the new process

  private static func serve(_ questions: Int32, _ answers: Int32, _ work: CacheWork) {
    signal(SIGPIPE, SIG_IGN)
    clinux_prepare_hashing()
    var work = work
    while let bytes = receive(questions) {
      guard let job = try? CacheJob(decoding: bytes), send(work.perform(job).encoded, to: answers)
      else { break }
    }
    work.close()
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
