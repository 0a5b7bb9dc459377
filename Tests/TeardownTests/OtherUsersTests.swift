// Steps that run as another user (sudo): processes that cannot be signalled are reported and given
// up.

import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct `Processes of another user` {
  /// A program that runs its arguments as root whoever starts it; oprun is nobody. Needs root and a
  /// temporary folder that is not mounted nosuid; else the tests say so and fail.
  private func start(_ keys: String, script: String, mark: Mark) throws -> OprunProcess {
    let source = """
      int setuid(unsigned), setgid(unsigned), execvp(const char *, char **);
      int main(int count, char **words) {
        if (count < 2 || setgid(0) || setuid(0)) return 99;
        execvp(words[1], words + 1);
        return 98;
      }
      """
    let oprun = try OprunProcess(
      """
      steps:
        - id: step
          run: \(script.replacing("MARK", with: mark.seconds))
          \(keys.replacing("\n", with: "\n    "))
        - {id: after, depends_on: [{step: step, when: done}], run: touch state/after}
      """, arguments: "--state-dir state/.oprun",
      prefix: """
        chmod 755 .; mkdir -m 777 state
        printf '%s' '\(source)' | gcc -x c -o as-root - && chmod 4755 as-root || exit 97
        setpriv --reuid=65534 --regid=65534 --clear-groups ./as-root true || exit 96
        exec setpriv --reuid=65534 --regid=65534 --clear-groups --
        """)
    return oprun
  }

  private func expect(_ oprun: OprunProcess, _ mark: Mark, status: Int32, said: [String]) {
    let ended = wait(for: oprun)
    #expect(ended == status, "\(oprun.standardError)")
    let left = mark.processes
    #expect(left.count == 1, "the probe must see what is left")
    let number = left.first.map { String($0) } ?? "?"
    for line in said {
      let line = line.replacing("PID", with: number)
      #expect(oprun.standardError.contains(line), "\(line)\n\(oprun.standardError)")
    }
    #expect(eventually { !hasGuardian(of: oprun) })
  }

  private func wait(for oprun: OprunProcess) -> Int32 {
    let ended = oprun.wait()
    #expect(ended != 96 && ended != 97, "NOT TESTED: there can be no program with set-user-ID here")
    return ended
  }

  /// Whether the command is root by now: before, the same process is `as-root`, which oprun can still end.
  private func isOutOfReach(_ mark: Mark) -> Bool {
    mark.processes.map { FileManager.default.contents(atPath: "/proc/\($0)/comm") }
      == [Data("sleep\n".utf8)]
  }

  private func hasGuardian(of oprun: OprunProcess) -> Bool {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.contains { process in
      let mark = FileManager.default.contents(atPath: "/proc/\(process)/environ") ?? Data()
      let arguments = FileManager.default.contents(atPath: "/proc/\(process)/cmdline") ?? Data()
      return arguments.starts(with: Data("guardian".utf8))
        && String(decoding: mark, as: UTF8.self).contains("PWD=\(oprun.folder.path)\0")
    }
  }

  @Test func `that are the command itself are given up after the grace`() throws {
    let isTested = try once {
      let mark = Mark()
      defer { mark.endAll() }
      let oprun = try start(
        "timeout: 1s\nstop: {grace: 300ms}", script: "[./as-root, sleep, \"MARK\"]", mark: mark)
      if wait(for: oprun) == 1, mark.processes.isEmpty { return false }  // It was not root in time.
      expect(
        oprun, mark, status: 1,
        said: [
          "! step   cannot signal 'sleep' (process PID, user root)\n", "step  timed out after 1s",
          "1 timed out, 1 ok",
        ])
      #expect(oprun.exists("state/after"))
      return true
    }
    #expect(isTested)
  }

  @Test func `below a command are given up after the grace`() throws {
    let isTested = try once {
      let mark = Mark()
      defer { mark.endAll() }
      let oprun = try start(
        "timeout: 1s\nstop: {grace: 300ms}", script: "\"./as-root sleep MARK; true\"",
        mark: mark)
      if wait(for: oprun) == 1, mark.processes.isEmpty { return false }  // It was not root in time.
      expect(
        oprun, mark, status: 1,
        said: [
          "! step   left 1 process behind: sleep (PID)\n",
          "! step   cannot signal 'sleep' (process PID, user root)\n", "step  timed out after 1s",
        ])
      return true
    }
    #expect(isTested)
  }

  @Test func `that a success leaves behind are told of`() throws {
    let mark = Mark()
    defer { mark.endAll() }
    let oprun = try start(
      "stop: {grace: 1h}",
      script: """
        "env -i setsid ./as-root sleep MARK & until grep -qx sleep /proc/$!/comm; do :; done"
        """, mark: mark)
    expect(
      oprun, mark, status: 0,
      said: [
        "! step   left 1 process behind: sleep (PID)\n",
        "! step   cannot signal 'sleep' (process PID, user root)\n", "2 ok",
      ])
  }

  @Test func `do not keep a run that is stopped by a signal`() throws {
    let mark = Mark()
    defer { mark.endAll() }
    let oprun = try start(
      "stop: {grace: 300ms}\non_cancel: touch state/hook",
      script: "[./as-root, sleep, \"MARK\"]", mark: mark)
    #expect(eventually { isOutOfReach(mark) && oprun.exists("state/.oprun") })
    oprun.send(SIGTERM)
    expect(
      oprun, mark, status: 143,
      said: ["! step   cannot signal 'sleep' (process PID, user root)\n", "2 cancelled"])
    #expect(oprun.exists("state/hook"))
  }

  @Test func `do not keep the guardians`() throws {
    let mark = Mark()
    let own = Mark()
    defer { mark.endAll(); own.endAll() }
    let oprun = try start(
      "", script: "\"setsid sleep \(own) & ./as-root sleep MARK\"", mark: mark)
    #expect(eventually { isOutOfReach(mark) && own.processes.count == 1 })
    oprun.send(SIGKILL)
    expect(oprun, mark, status: 137, said: [])
    #expect(eventually { own.processes.isEmpty })
  }
}
