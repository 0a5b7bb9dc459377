// Streams whose reader stops reading: the writer does not wait, and nothing is lost.

import Foundation
import RunFiles
import Testing

@testable import Reporting

final class OutletTests {
  private let folder = NSTemporaryDirectory() + "/backlog-\(UUID().uuidString)"
  private let directory: RunDirectory

  init() {
    mkdir(folder, 0o700)
    directory = RunDirectory(
      owning: Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), path: folder)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// Two connected descriptors; what is written to the second comes out of the first.
  private func ends(isSocket: Bool) -> [Int32] {
    var ends: [Int32] = [0, 0]
    let result =
      isSocket ? socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) : pipe(&ends)
    #expect(result == 0)
    return ends
  }

  private func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
  }

  private func read(_ end: Int32, _ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let result = Glibc.read(end, &bytes, count)
    return Array(bytes.prefix(max(0, result)))
  }

  @Test(arguments: [false, true])
  func `everything arrives in order, however late it is taken`(isSocket: Bool) throws {
    let ends = ends(isSocket: isSocket)
    let outlet = try #require(Outlet(ends[1], backlog: "@output", in: directory))
    let sent = bytes(3_000_000)
    var taken: [UInt8] = []
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1000, alignment: 1)
    defer { buffer.deallocate() }
    for start in stride(from: 0, to: sent.count, by: 100_000) {
      sent[start..<(start + 100_000)].withUnsafeBytes { outlet.write($0) }
      outlet.endTurn()
      taken += read(ends[0], 1 + start % 5000)
      outlet.resume(buffer: buffer)
    }
    #expect(outlet.isBehind)
    while outlet.isBehind {
      taken += read(ends[0], 1 << 20)
      outlet.resume(buffer: buffer)
    }
    while taken.count < sent.count { taken += read(ends[0], 1 << 20) }
    let isSame = taken == sent
    #expect(isSame)
    #expect(!outlet.hasFailed)
    for end in ends { close(end) }
  }

  @Test func `the descriptor stays as others know it, and the folder empty`() throws {
    let ends = ends(isSocket: false)
    let outlet = try #require(Outlet(ends[1], backlog: "@output", in: directory))
    bytes(100_000).withUnsafeBytes { outlet.write($0) }
    #expect(outlet.isBehind)
    #expect(fcntl(ends[1], F_GETFL) & O_NONBLOCK == 0)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
    rmdir(folder)
    for end in ends { close(end) }
  }

  @Test func `a reader that goes away makes it silent`() throws {
    let ends = ends(isSocket: true)
    let outlet = try #require(Outlet(ends[1], backlog: "@output", in: directory))
    bytes(1_000_000).withUnsafeBytes { outlet.write($0) }
    #expect(outlet.isBehind)
    // What other tests start may have inherited it.
    shutdown(ends[0], Int32(SHUT_RDWR))
    close(ends[0])
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1000, alignment: 1)
    defer { buffer.deallocate() }
    outlet.resume(buffer: buffer)
    #expect(outlet.hasFailed && !outlet.isBehind)
    bytes(10).withUnsafeBytes { outlet.write($0) }
    #expect(!outlet.isBehind)
    close(ends[1])
  }

  @Test func `what cannot be kept is given up`() throws {
    let ends = ends(isSocket: false)
    rmdir(folder)
    let outlet = try #require(Outlet(ends[1], backlog: "@output", in: directory))
    bytes(1_000_000).withUnsafeBytes { outlet.write($0) }
    #expect(outlet.hasFailed && !outlet.isBehind)
    for end in ends { close(end) }
  }

  @Test func `files and devices that never wait need none`() throws {
    let file = try TemporaryFile()
    #expect(Outlet(file.descriptor, backlog: "@output", in: directory) == nil)
    let null = open("/dev/null", O_WRONLY)
    #expect(Outlet(null, backlog: "@output", in: directory) == nil)
    #expect(Outlet(-1, backlog: "@output", in: directory) == nil)
    close(null)
  }
}
