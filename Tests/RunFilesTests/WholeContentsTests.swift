// Writing and reading whole pieces, where the system does a part of it or nothing.

import Glibc
import RunFiles
import Testing

struct `All bytes of a piece` {
  @Test func `are not written to a full disk, and the reason is said`() {
    let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
    defer { close(full) }
    errno = 0
    #expect(!writeFully([1, 2, 3], to: full))
    #expect(errno == ENOSPC)
  }

  @Test func `have a reason if only some of them fit`() async {
    await #expect(processExitsWith: .success) {
      signal(SIGXFSZ, SIG_IGN)
      var limit = rlimit(rlim_cur: 10, rlim_max: 10)
      setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
      var name = Array("/tmp/oprun-piece-XXXXXX".utf8CString)
      let file = mkstemp(&name)
      unlink(name)
      errno = 0
      let isWritten = writeFully([UInt8](repeating: 7, count: 20), to: file, at: 0)
      let isRefused = errno == EFBIG
      var buffer = [UInt8](repeating: 0, count: 20)
      let count = buffer.withUnsafeMutableBytes { readFully(file, into: $0, at: 0) }
      exit(!isWritten && isRefused && count == 10 ? 0 : 1)
    }
  }

  @Test func `come through a pipe that holds fewer`() {
    var ends: [Int32] = [0, 0]
    pipe(&ends)
    _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
    errno = 0
    #expect(!writeFully([UInt8](repeating: 1, count: 1 << 20), to: ends[1]))
    #expect(errno == EAGAIN)
    close(ends[1])
    #expect((readFully(ends[0], atMost: 1 << 20)?.count ?? 0) > 0)
    close(ends[0])
    #expect(readFully(-1, atMost: 1) == nil)
  }
}
