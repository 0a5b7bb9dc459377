// What a command did not use is passed on to the next one, and nothing else is.

import Foundation
import RunFiles
import Testing

@testable import Execution

final class OwnPlacesTests {
  private let run = TemporaryRun()
  private lazy var places = OwnPlaces(in: run.directory, path: run.directory.path)

  private func fileNumber(_ path: String) -> UInt64? {
    var status = stat()
    return lstat(path, &status) == 0 ? UInt64(status.st_ino) : nil
  }

  private var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: run.directory.path)) ?? []).sorted()
  }

  @Test func `what a command left as it was is renamed for the next one`() throws {
    let file = fileNumber(places.makeFile("a.outputs"))
    let folder = fileNumber(try places.makeFolder("a.tmp"))
    places.takeBackFile("a.outputs", isReused: true)
    places.takeBackFolder("a.tmp", isReused: true)
    #expect(fileNumber(places.makeFile("b.outputs")) == file)
    #expect(fileNumber(try places.makeFolder("b.tmp")) == folder)
    #expect(names == ["b.outputs", "b.tmp"])
    _ = places.makeFile("c.outputs")
    _ = try places.makeFolder("c.tmp")
    #expect(names == ["b.outputs", "b.tmp", "c.outputs", "c.tmp"])
  }

  @Test func `what processes that live on may still use is removed`() throws {
    _ = places.makeFile("a.outputs")
    _ = try places.makeFolder("a.tmp")
    places.takeBackFile("a.outputs", isReused: false)
    places.takeBackFolder("a.tmp", isReused: false)
    #expect(names == [])
  }

  @Test func `a file that a command has written to stays where it is`() throws {
    let file = places.makeFile("a.outputs")
    try Data("x=1".utf8).write(to: URL(fileURLWithPath: file))
    places.takeBackFile("a.outputs", isReused: true)
    _ = places.makeFile("b.outputs")
    #expect(names == ["a.outputs", "b.outputs"])
    // Written to, although it is empty.
    try Data().write(to: URL(fileURLWithPath: run.path(of: "b.outputs")))
    places.takeBackFile("b.outputs", isReused: true)
    _ = places.makeFile("c.outputs")
    #expect(names == ["a.outputs", "b.outputs", "c.outputs"])
  }

  @Test func `a directory that holds something, or was opened to others, is removed`() throws {
    let first = try places.makeFolder("a.tmp")
    try Data().write(to: URL(fileURLWithPath: "\(first)/.left"))
    places.takeBackFolder("a.tmp", isReused: true)
    #expect(names == [])
    chmod(try places.makeFolder("b.tmp"), 0o777)
    places.takeBackFolder("b.tmp", isReused: true)
    #expect(names == [])
  }

  @Test func `what nobody takes is removed at the end of the run`() throws {
    var places: OwnPlaces? = OwnPlaces(in: run.directory, path: run.directory.path)
    _ = places?.makeFile("a.outputs")
    _ = try places?.makeFolder("a.tmp")
    places?.takeBackFile("a.outputs", isReused: true)
    places?.takeBackFolder("a.tmp", isReused: true)
    #expect(names == ["a.outputs", "a.tmp"])
    places = nil
    #expect(names == [])
  }

  @Test func `something in the place of a directory is reported, and what was spare is gone`()
    throws
  {
    _ = try places.makeFolder("a.tmp")
    places.takeBackFolder("a.tmp", isReused: true)
    try Data("x".utf8).write(to: URL(fileURLWithPath: run.path(of: "b.tmp")))
    #expect(throws: (any Error).self) { try self.places.makeFolder("b.tmp") }
    #expect(names == ["b.tmp"])
  }
}
