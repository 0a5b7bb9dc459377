// Runs within runs, one of which is killed, leave no control group behind. The groups are real ones: where none can be
// made these tests do not run, and Scripts/test says so at its end.

import Foundation
import Processors
import TestSupport
import Testing

@Suite(
  .blocking,
  .enabled(
    if: ScratchGroup.canBeMade,
    "no control group of version 2 is writable here, so nothing was tested of those that killed runs leave"
  ))
struct `Control groups of a run within a run` {
  /// What is killed once the inner step runs, as a script; `$inner` is the inner oprun.
  static let attacks = [
    "the inner oprun": "kill -9 $inner",
    // A guardian that is stopped replaces nobody.
    "the inner oprun and its guardians": """
    until first=$(pgrep -P $inner -f '^guardian ') && second=$(pgrep -P $first -f '^guardian '); do sleep 0.01; done
    kill -STOP $inner $first $second
    kill -9 $inner $first $second
    """,
  ]

  /// An outer run whose step starts an inner one, and does something once that runs a step that leaves a process.
  private func start(
    in group: ScratchGroup, _ mark: Mark, then script: String
  ) throws -> OprunProcess {
    let inner = """
      mkdir inner
      cat >inner/pipeline.yml <<'END'
      steps:
        - id: inner
          run: |
            cut -d : -f 3- /proc/self/cgroup >group
            env -i setsid sh -c 'setsid sleep \(mark) & exit 0'
            touch started
            sleep \(mark)
      END
      (cd inner && exec '\(OprunProcess.program)' pipeline.yml) &
      inner=$!
      while [ ! -e inner/started ]; do sleep 0.01; done
      \(script)
      """
    return try OprunProcess(
      pipeline(script: inner), prefix: "echo $$ >'\(group.path)/cgroup.procs' && exec")
  }

  /// The group of the inner step, within that of the outer one.
  private func expectNested(_ oprun: OprunProcess, in group: ScratchGroup) {
    let names =
      oprun.content(of: "inner/group").split(whereSeparator: \.isNewline).last?
      .split(separator: "/").suffix(3).map(String.init) ?? []
    #expect(names.count == 3 && names.first == group.name, "\(names)")
    #expect(names.dropFirst().allSatisfy { $0.hasPrefix("oprun-") }, "\(names)")
  }

  @Test(arguments: attacks.keys.sorted())
  func `are gone when the outer one has ended`(killed: String) throws {
    let script = try #require(`Control groups of a run within a run`.attacks[killed])
    let group = try ScratchGroup()
    let mark = Mark()
    defer { mark.endAll() }
    let oprun = try start(in: group, mark, then: "\(script)\nwait $inner || echo $? >status")
    #expect(oprun.wait() == 0, "\(oprun.standardError)")
    #expect(oprun.content(of: "status") == "137\n")
    expectNested(oprun, in: group)
    #expect(group.groups == [])
    #expect(mark.processes == [])
    #expect(eventually { group.remove() })
  }

  @Test func `are gone when the outer one was killed`() throws {
    let group = try ScratchGroup()
    let mark = Mark()
    defer { mark.endAll() }
    let oprun = try start(in: group, mark, then: "touch ready; sleep \(mark)")
    #expect(eventually { oprun.exists("ready") && mark.processes.count == 3 })
    expectNested(oprun, in: group)
    #expect(group.groups.count == 2, "the probe must see both: \(group.groups)")
    oprun.send(SIGKILL)
    _ = oprun.wait()
    #expect(eventually { group.groups.isEmpty }, "left: \(group.groups)")
    #expect(mark.processes == [])
    #expect(eventually { group.remove() })
  }
}

/// A control group for one test, so that those of other runs do not matter.
private struct ScratchGroup {
  let name = "test-\(UUID().uuidString)"
  let path: String

  static let canBeMade: Bool = {
    guard let group = try? ScratchGroup() else { return false }
    defer { _ = group.remove() }
    return access("\(group.path)/cgroup.kill", W_OK) == 0
      && access("\(group.path)/cgroup.procs", W_OK) == 0
  }()

  init() throws {
    guard let parent = ownControlGroup?.path else { throw CocoaError(.fileNoSuchFile) }
    path = "\(parent)/\(name)"
    guard mkdir(path, 0o700) == 0 else { throw CocoaError(.fileWriteNoPermission) }
  }

  /// All groups within it.
  var groups: [String] {
    let names = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
    return names.filter {
      var isFolder: ObjCBool = false
      return FileManager.default.fileExists(atPath: "\(path)/\($0)", isDirectory: &isFolder)
        && isFolder.boolValue
    }
  }

  /// False if something is left in it.
  func remove() -> Bool { rmdir(path) == 0 || errno == ENOENT }
}
