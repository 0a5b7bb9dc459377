// The machine refuses more: disk, permissions, processes, file size. Each fault has a clear message
// and status, running commands are ended properly, and nothing is left.

import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct `Faults of the machine` {
  /// A command prefix for a separate mount namespace, with a small or read-only file system at
  /// `state`. It needs root, or a user who may create namespaces; otherwise the tests say so and
  /// fail.
  private func mounted(_ options: String) -> String {
    "mkdir state; exec unshare -rm sh -c 'mount -t tmpfs -o \(options) none state && exec \"$@\"' sh"
  }

  @Test func `a full disk ends the run with 74`() throws {
    let mark = Mark()
    defer { mark.endAll() }
    let oprun = try OprunProcess(
      """
      max_parallel: 2
      steps:
        - {id: loud, run: "while [ ! -e ready ]; do sleep 0.01; done; head -c 9000000 /dev/zero; touch full"}
        - {id: other, run: "touch ready; setsid sleep \(mark) & sleep \(mark)", stop: {grace: 300ms}}
        - {id: after, depends_on: [loud], run: touch after}
      """,
      arguments: "--state-dir state/.oprun --output quiet", prefix: mounted("size=512k"))
    #expect(oprun.wait() == 74, "\(oprun.standardError)")
    #expect(oprun.standardError.contains("loud.1.log': no space left on device"))
    #expect(mark.processes == [])
    #expect(!oprun.exists("after") && !oprun.exists("full"))
  }

  @Test func `a read-only state directory ends oprun with 74 before anything runs`() throws {
    let oprun = try OprunProcess(
      pipeline(script: "touch ran"), arguments: "--state-dir state/.oprun", prefix: mounted("ro"))
    #expect(oprun.wait() == 74)
    #expect(
      oprun.standardError == """
        oprun: cannot create 'state/.oprun': read-only file system
          help: choose another with --state-dir or OPRUN_STATE_DIR

        """)
    #expect(!oprun.exists("ran"))
  }

  @Test func `a limit on file size is an error, not a death`() throws {
    let oprun = try OprunProcess(
      pipeline(script: "head -c 9000000 /dev/zero"), arguments: "--output quiet",
      prefix: "ulimit -f 1000; exec")
    #expect(oprun.wait() == 74)
    #expect(oprun.standardError.contains("step.1.log': file too large"), "\(oprun.standardError)")
  }

  @Test func `a step that cannot have a process fails with the reason`() throws {
    // Root has no such limit.
    let user = getuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups" : ""
    let oprun = try OprunProcess(
      pipeline(script: "touch ran"), arguments: "--state-dir state/.oprun",
      prefix: "mkdir -m 777 state; exec \(user) prlimit --nproc=1 --")
    #expect(oprun.wait() == 1)
    #expect(
      oprun.standardError.contains("resource temporarily unavailable (is the limit on processes"),
      "\(oprun.standardError)")
    #expect(!oprun.exists("ran"))
  }

  @Test func `output without end costs no memory and a bounded log`() throws {
    let oprun = try OprunProcess(
      pipeline(
        script: """
          yes 'a line of a very talkative step' | head -c 400000000
          grep VmHWM /proc/$PPID/status >peak
          """,
        keys: "log_limit: 2M"))
    #expect(oprun.wait() == 0, "\(oprun.standardError)")
    let peak = Int(oprun.content(of: "peak").filter(\.isNumber)) ?? .max
    #expect(peak < 40 << 10, "\(peak) kB")
    let shown = oprun.standardOutput
    #expect(shown.utf8.count < 4 << 20)
    #expect(shown.contains("[oprun: 396854272 bytes of output dropped here, see log_limit]"))
  }

  @Test func `a thousand steps at once run in few descriptors`() throws {
    let steps = (0..<300).map { "  - {id: s\($0), run: sleep 0.01}\n" }.joined()
    let oprun = try OprunProcess(
      "steps:\n\(steps)", arguments: "-j 1000", prefix: "ulimit -n 64; exec")
    #expect(oprun.wait() == 0)
    #expect(
      oprun.standardError.contains(" steps run at once: the limit on open files is 64"))
    #expect(oprun.standardError.contains("300 ok"))
  }

  /// Everything that opens something: parallel steps, scripts that are too long for an argument,
  /// standard input, hooks, outputs, secrets, conditions, orphans that live on, logs that are shown.
  private static let greedy =
    """
    max_parallel: 4
    secrets: [{name: token, from: env}]
    steps:
      - {id: first, run: "echo one=1 >>$OPRUN_OUTPUT; echo $token", env: {token: "${{ secrets.token }}"}}
      - {id: second, depends_on: [first], run: "cat", stdin: "${{ steps.first.outputs.one }}"}
      - {id: third, run: "seq 30000", on_complete: "echo hook >>hooks"}
      - {id: fourth, run: "seq 30000", on_success: "echo hook >>hooks"}
      - {id: fifth, run: "sleep 0.1 & seq 3", orphans: allow}
      - {id: sixth, run: "sleep 0.1 & seq 3", orphans: allow}
      - id: waits
        wait_for: [{command: "test -e hooks", every: 50ms}]
        run: env -i setsid true; echo met
      - id: long
        stdin: text
        run: |
          cat
          # \(String(repeating: "x", count: 140_000))
    """

  @Test(arguments: Array(10...27) + [32, 48, 64], ["files", "one pipe", "two pipes"])
  func `few descriptors lower the width, or are an error before anything runs`(
    limit: Int, output: String
  ) throws {
    let (before, suffix) =
      switch output {
      case "files": ("", ">out 2>err); echo $? >status)")
      case "one pipe": ("", "2>&1); echo $? >status) | tee out >err")
      default: ("mkfifo pipe; cat pipe >err &", "); echo $? >status) 2>pipe | cat >out")
      }
    let oprun = try OprunProcess(
      `Faults of the machine`.greedy,
      prefix: """
        export token=hunter22hunter22; \(before)
        # What other tests have open at this moment must not count.
        close='for fd in $(ls /proc/self/fd); do [ "$fd" -lt 3 ] || eval "exec $fd<&-"; done'
        ((exec bash -c "$close; exec prlimit --nofile=\(limit):\(limit) -- \\"\\$@\\"" sh
        """,
      suffix: suffix)
    #expect(eventually(within: 60) { oprun.content(of: "status").hasSuffix("\n") })
    let status = oprun.content(of: "status")
    let said = oprun.content(of: "err") + oprun.content(of: "out")
    if status == "70\n" {
      #expect(limit < (output == "two pipes" ? 23 : 22), "\(said)")
      #expect(
        eventually { oprun.content(of: "err").contains("oprun: a run needs at least ") }, "\(said)")
      #expect(!oprun.exists("hooks"))
    } else {
      #expect(status == "0\n", "\(said)")
      #expect(eventually { oprun.content(of: "err").contains("8 ok") || said.contains("8 ok") })
      #expect(!said.contains("too many open files"), "\(said)")
      #expect(oprun.content(of: "hooks") == "hook\nhook\n")
    }
  }

  @Test func `an ignored SIGCHLD is not inherited`() throws {
    let oprun = try OprunProcess(
      pipeline(script: "sh -c 'exit 3' || echo $?"), prefix: "trap '' CHLD; exec")
    #expect(oprun.wait() == 0)
    #expect(oprun.standardOutput == "3\n")
  }

  @Test func `closed standard streams are not taken for something else`() throws {
    let oprun = try OprunProcess(
      pipeline(script: "echo out; echo error >&2; cat"), suffix: "<&- >&- 2>&-")
    #expect(oprun.wait() == 74)
    let runs = oprun.folder.appending(path: ".oprun/runs")
    let run = try #require(FileManager.default.contentsOfDirectory(atPath: runs.path).first)
    #expect(oprun.content(of: ".oprun/runs/\(run)/step.1.log") == "out\nerror\n")
  }
}
