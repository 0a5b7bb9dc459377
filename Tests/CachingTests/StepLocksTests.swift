// Locks that runs take of steps: which runs they keep out.

import Foundation
import Testing

@testable import Caching

final class `Locks of steps` {
  private let path = FileManager.default.temporaryDirectory.path + "/locks-\(UUID().uuidString)"
  private let folder: Int32
  private var first = StepLocks()
  private var second = StepLocks()

  init() throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
  }

  deinit {
    first.close()
    second.close()
    close(folder)
    try? FileManager.default.removeItem(atPath: path)
  }

  private func step(_ number: UInt64) -> CacheDigest {
    CacheDigest(words: (number << 2, 0, 0, 0))
  }

  @Test func `one run has a step at a time`() {
    let hadIt = first.take(step(1), in: folder)
    let gotIt = second.take(step(1), in: folder)
    let gotAnother = second.take(step(2), in: folder)
    first.giveBack(step(1))
    let gotItNow = second.take(step(1), in: folder)
    #expect([hadIt, gotIt, gotAnother, gotItNow] == [true, false, true, true])
  }

  @Test func `a run that ends gives back its locks`() {
    let hadIt = first.take(step(1), in: folder)
    let gotIt = second.take(step(1), in: folder)
    first.close()
    first = StepLocks()
    #expect([hadIt, gotIt] == [true, false])
    // A process that another test has just started has the file, too, until it runs its program.
    while !second.take(step(1), in: folder) { usleep(1000) }
  }

  @Test func `without a file to lock nobody waits`() {
    #expect([first.take(step(1), in: -1), second.take(step(1), in: -1)] == [true, true])
    first.giveBack(step(1))
  }
}
