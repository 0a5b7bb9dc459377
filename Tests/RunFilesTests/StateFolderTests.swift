// The paths by which libraries reach what is in the state directory.

import Diagnostics
import Foundation
import Testing

@testable import RunFiles

@Suite struct `The state directory has a path for libraries` {
  private let place = FileManager.default.temporaryDirectory.appending(
    path: "state-\(UUID().uuidString)")

  private func folder(_ name: String) throws -> StateFolder {
    let path = place.appending(path: name).path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    return StateFolder(owning: open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), path: path)
  }

  @Test func `without links`() throws {
    defer { try? FileManager.default.removeItem(at: place) }
    _ = try folder("real")
    let link = place.appending(path: "link").path
    #expect(symlink("real", link) == 0)
    let folder = try folder("link")
    let real = try #require(realPath(place.appending(path: "real").path))
    #expect(folder.followedPath(of: "state.db") == "\(real)/state.db")
  }

  /// The kernel puts ` (deleted)` behind the path of a directory that is gone.
  @Test func `which leads to it also when it was removed, or looks as if it was`() throws {
    defer { try? FileManager.default.removeItem(at: place) }
    for name in ["removed", "never (deleted)"] {
      let folder = try folder(name)
      if name == "removed" { #expect(rmdir(folder.path) == 0) }
      let path = folder.followedPath(of: "state.db")
      #expect(path == "/proc/self/fd/\(folder.descriptor)/state.db")
    }
  }
}
