// Where paths lead through links.

import Foundation
import Testing

@testable import Caching

final class LinkTrailTests {
  private let folder: String

  init() throws {
    let url = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(
      at: url.appending(path: "v1/sub"), withIntermediateDirectories: true)
    let real = try #require(realpath(url.path, nil))
    folder = String(cString: real)
    free(real)
    for (name, target) in [
      ("current", "v1"), ("whole", folder + "/current"), ("v1/up", "../v2/x"), ("loop", "loop"),
      ("file", "current/sub/f"), ("gone", "no/where"), ("dots", "./v1/../v1/sub"),
    ] {
      try FileManager.default.createSymbolicLink(
        atPath: "\(folder)/\(name)", withDestinationPath: target)
    }
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  @Test(arguments: [
    ("v1/sub", "", "v1/sub"), ("current/sub/x", "current v1 v1/sub v1/sub/x", "v1/sub/x"),
    ("whole/sub", "whole current v1 v1/sub", "v1/sub"), ("v1/up", "v1/up v2 v2/x", "v2/x"),
    ("file", "file current v1 v1/sub v1/sub/f", "v1/sub/f"),
    ("gone", "gone no no/where", "no/where"),
    ("dots", "dots v1 v1 v1/sub", "v1/sub"), ("nothing/at/all", "", "nothing/at/all"),
  ])
  func `a path leads through links to its end`(_ path: String, _ places: String, _ end: String) {
    let trail = LinkTrail("\(folder)/\(path)")
    #expect(trail.places.map { $0.path(below: folder) ?? $0 }.joined(separator: " ") == places)
    #expect(trail.end == "\(folder)/\(end)")
  }

  @Test func `a link that leads to itself ends somewhere`() {
    #expect(Set(LinkTrail("\(folder)/loop").places) == ["\(folder)/loop"])
    #expect(LinkTrail("/").end == "/")
  }
}
