// Which files and directories are opened to a confined command, from what is in the key of its step.

import Foundation
import Plans
import RunFiles
import Testing

@testable import Caching

struct `What a confined command can read of its inputs` {
  private let folder: TemporaryFolder
  private let cache: StepCache

  init() throws {
    folder = try TemporaryFolder()
    for name in [
      "src/a.c", "src/b.h", "src/gen/g.c", "src/gen/deep/h.c", "data/file", "st/runs/log",
    ] {
      folder.write(name, to: name)
    }
    for (name, target) in [
      ("src/data", "../data"), ("src/file", "../data/file"), ("src/logs", "../st/runs"),
      ("up", "."),
    ] {
      symlink(target, "\(folder.path)/\(name)")
    }
    let path = folder.path + "/st"
    let state = StateFolder(owning: open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), path: path)
    var options = CacheOptions()
    options.workspace = folder.path
    cache = StepCache(try CacheFolder.make(in: state), options)
  }

  private func lookup(_ inputs: [String], own: Int? = nil) throws -> CacheLookup {
    var settings = CacheSettings()
    settings.inputs = inputs
    let lookup = CacheLookup(
      "s", name: .none, settings, directory: folder.path, StepDescription(), record: nil)
    lookup.ownInputCount = own ?? inputs.count
    lookup.take(inputs: try folder.inspect(inputs, hidden: cache.folder.state))
    lookup.comparedAt = 1
    return lookup
  }

  private func readable(_ inputs: [String], own: Int? = nil) throws -> [String]? {
    cache.readable(try lookup(inputs, own: own), at: 1)?.map {
      $0 == folder.path ? "." : String($0.dropFirst(folder.path.utf8.count + 1))
    }
  }

  @Test(arguments: [
    (["src/a.c", "none"], ["none", "src/a.c"]),
    (["src"], ["src", "src/data/file", "src/file"]),
    (["src", "data"], ["data", "src", "src/data/file", "src/file"]),
    (["src/*.c", "src/**/h.c"], ["src/a.c", "src/gen/deep/h.c"]),
    (["src/*/f*"], ["src/data/file"]),
    (["src", "!src/*.h"], ["src/a.c", "src/data/file", "src/file", "src/gen"]),
    (
      ["src", "!src/**/*.h", "!src/data", "!src/file"],
      ["src/a.c", "src/gen/deep/h.c", "src/gen/g.c"]
    ),
    (["src/logs", "src/logs/*", "st/**"], []),
    ([], []),
  ])
  func `is what is in the key, and directories as a whole where all of them is`(
    _ inputs: [String], _ paths: [String]
  ) throws {
    #expect(try readable(inputs) == paths)
  }

  @Test func `is everything but the state directory where that is in an input`() throws {
    #expect(try readable(["."]) == ["data", "src", "src/file"])
    // A link to the directory around it.
    #expect(try readable(["up"])?.contains("up/data") == true)
    #expect(try readable(["up"])?.contains { $0.contains("st") } == false)
  }

  @Test func `is not what steps before it have made as links`() throws {
    #expect(try readable(["src/a.c", "src/*"], own: 1) == ["src/a.c", "src/b.h"])
    #expect(try readable(["src/file", "src/*"], own: 1) == ["src/a.c", "src/b.h", "src/file"])
  }

  @Test func `is not known once something has changed, or if nobody has looked`() throws {
    let lookup = try lookup(["src/*.c"])
    #expect(cache.readable(lookup, at: 2) != nil)
    folder.write("changed", to: "src/a.c")
    #expect(cache.readable(lookup, at: 1) != nil && cache.readable(lookup, at: 2) == nil)
    #expect(cache.readable(cache.bypass("s", CacheSettings()), at: 1) == nil)
  }
}

@Test(arguments: [(true, true, true), (true, false, false), (false, true, false)])
func `the key of a step expects a confined command if it wants one and the machine can confine it`(
  _ isEnforced: Bool, _ canConfine: Bool, _ isExpected: Bool
) {
  var settings = CacheSettings()
  settings.isEnforced = isEnforced
  let action = Action.script(ScriptText("true"))
  var description = StepDescription()
  description.describe(
    ReadyStep(action, StepSettings()), action, settings,
    in: DescribedRun(environment: [:], version: "1", masker: nil, canConfine: canConfine))
  let lookup = CacheLookup("s", name: .none, settings, directory: "", description, record: nil)
  #expect(lookup.expectsConfinement == isExpected)
}
