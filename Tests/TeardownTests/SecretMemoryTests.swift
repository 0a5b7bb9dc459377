// What another process of the same user can find of secrets: nothing in oprun's memory, nothing in the
// files of a run that was killed. Root may read everything, so oprun runs as a plain user here.

import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct `Secrets in memory and files` {
  /// A command prefix that runs it as `nobody` if root runs the tests. An ordinary user needs
  /// nothing.
  private static let asPlainUser =
    getuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups" : ""

  /// A copy of the program and a pipeline, in a folder that a plain user may write to.
  private func folder(_ pipeline: String) throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "oprun-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    // A separate process does this, because a descriptor that another test's child inherited would
    // keep the copy busy.
    let copy = try Child(
      script: "cp '\(OprunProcess.program)' '\(folder.appending(path: "oprun").path)'")
    _ = copy.wait()
    try pipeline.write(
      to: folder.appending(path: "pipeline.yml"), atomically: false, encoding: .utf8)
    chmod(folder.path, 0o777)
    return folder
  }

  /// Starts a run that continues until the file `over` exists, and asks another process of the same
  /// user what it can read.
  private func look(declaring secrets: String) throws -> String {
    let folder = try folder(
      """
      \(secrets)
      steps:
        - id: a
          run: |
            touch here
            while [ ! -e over ]; do sleep 0.01; done
      """)
    defer { try? FileManager.default.removeItem(at: folder) }
    let child = try Child(
      script: """
        cd '\(folder.path)' || exit 99
        exec \(Self.asPlainUser) sh -c '
          ulimit -c unlimited
          TOKEN=hunter2-and-more ./oprun run pipeline.yml </dev/null >out 2>&1 &
          while [ ! -e here ] && kill -0 $!; do sleep 0.01; done
          until guardian=$(pgrep -P $! -x guardian) && pgrep -P $guardian >/dev/null; do
            kill -0 $! || exit 98
            sleep 0.01
          done
          {
            for process in $! $guardian; do
              for file in mem environ; do
                if head -c 1 /proc/$process/$file >/dev/null 2>error; then echo "$file is read"
                elif grep -q "Permission denied" error; then echo "$file is closed"
                else echo "$file is open"; fi
              done
            done
            if [ -n "$guardian" ]; then echo "a guardian was seen"; fi
          } >found
          touch over
          wait $!
          echo "exit $?" >>found
        '
        """)
    _ = child.wait()
    return (try? String(contentsOf: folder.appending(path: "found"), encoding: .utf8)) ?? "nothing"
  }

  @Test func `memory of oprun and its guardian is closed in a run with secrets`() throws {
    let open = try look(declaring: "name: none")
    #expect(
      open == """
        mem is open
        environ is read
        mem is open
        environ is read
        a guardian was seen
        exit 0

        """, "the probe must see memory that is not closed")
    #expect(
      try look(declaring: "secrets: [{name: TOKEN}]") == """
        mem is closed
        environ is closed
        mem is closed
        environ is closed
        a guardian was seen
        exit 0

        """)
  }

  @Test func `steps may be looked at as always, and dump core as always`() throws {
    let folder = try folder(
      """
      secrets: [{name: TOKEN}]
      steps:
        - id: a
          run: |
            head -c 1 /proc/$$/environ >/dev/null && echo "environ is read"
            ulimit -c
      """)
    defer { try? FileManager.default.removeItem(at: folder) }
    let child = try Child(
      script: """
        cd '\(folder.path)' || exit 99
        exec \(Self.asPlainUser) sh -c '
          ulimit -c 1000; TOKEN=hunter2-and-more ./oprun run --output quiet pipeline.yml >out 2>&1
          cat .oprun/runs/*/a.1.log >>out'
        """)
    _ = child.wait()
    let seen = try String(contentsOf: folder.appending(path: "out"), encoding: .utf8)
    #expect(seen == "environ is read\n1000\n")
  }

  @Test func `outputs of commands are removed when oprun is killed`() throws {
    let oprun = try OprunProcess(
      """
      secrets: [{name: TOKEN}]
      steps:
        - id: a
          run: |
            echo "t=$TOKEN" >> "$OPRUN_OUTPUT"
            touch here; sleep 600
      """, prefix: "export TOKEN=hunter2-and-more; exec")
    #expect(eventually { oprun.exists("here") })
    let outputs = {
      let all = FileManager.default.subpaths(atPath: oprun.folder.path) ?? []
      return all.filter { $0.hasSuffix(".outputs") }
    }
    #expect(outputs().count == 1, "the probe must see the file")
    oprun.send(SIGKILL)
    _ = oprun.wait()
    #expect(eventually { outputs().isEmpty })
  }
}
