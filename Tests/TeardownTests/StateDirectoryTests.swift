// Attacks on the state directory: directories prepared by other users, and steps that replace the
// files of their run or remove its directory.

import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct `The state directory` {
  /// oprun creates a log when it sees output, which may be after the next command of the script.
  private let awaitsLog = "until ls .oprun/runs/*/*.1.log >/dev/null 2>&1; do sleep 0.01; done"

  @Test func `of another user forges nothing in a run of root`() throws {
    guard getuid() == 0 else { return try ofRootForgesNothing() }
    let oprun = try OprunProcess(
      pipeline(script: "touch ran"),
      prefix: """
        mkdir -m 755 .oprun && chown 65534 .oprun && exec
        """)
    #expect(oprun.wait() == 74)
    #expect(
      oprun.standardError == """
        oprun: the state directory '.oprun' belongs to user 65534, wanted root, the user that runs oprun
          help: run oprun as user 65534, or choose another with --state-dir or OPRUN_STATE_DIR

        """)
    #expect(!oprun.exists("ran"))
  }

  /// The same without the rights of root: no directory of ours can be given away, but there are
  /// some of root.
  private func ofRootForgesNothing() throws {
    let oprun = try OprunProcess(pipeline(script: "touch ran"), arguments: "--state-dir /usr")
    #expect(oprun.wait() == 74)
    #expect(oprun.standardError.hasPrefix("oprun: the state directory '/usr' belongs to root, "))
    #expect(!oprun.exists("ran"))
  }

  @Test func `is not written to if others can write there`() throws {
    let oprun = try OprunProcess(
      pipeline(script: "touch ran"), prefix: "mkdir .oprun; chmod 777 .oprun; exec")
    #expect(oprun.wait() == 74)
    #expect(oprun.standardError.contains("help: run chmod go-w '.oprun', or choose another"))
    #expect(!oprun.exists("ran") && !oprun.exists(".oprun/runs"))
  }

  /// In this run every file that oprun will need next is already something else.
  @Test(arguments: ["grouped", "prefixed", "quiet"])
  func `full of FIFOs holds nothing up`(mode: String) throws {
    let oprun = try OprunProcess(
      """
      max_parallel: 1
      steps:
        - id: plants
          run: |
            echo one
            folder=$(dirname "$OPRUN_OUTPUT")
            until rm "$folder/plants.1.log" 2>/dev/null; do sleep 0.01; done
            cd "$folder" && mkfifo plants.1.log next.1.log @output @messages
            ln -s /etc/passwd fails.1.log
            echo two
        - {id: next, depends_on: [plants], run: "echo three"}
        - {id: fails, depends_on: [next], run: "echo four;
             cd $(dirname $OPRUN_OUTPUT); while [ -h fails.1.log ]; do sleep 0.01; done;
             rm *.1.log; mkfifo fails.1.log; echo five; false"}
      """, arguments: "--output \(mode)", prefix: "exec timeout -s KILL 300")
    #expect(oprun.wait() == 1, "\(oprun.standardError)")
    switch mode {
    case "grouped": #expect(oprun.standardOutput == "one\ntwo\nthree\nfour\nfive\n")
    case "prefixed":
      #expect(
        oprun.standardOutput
          == "[plants] one\n[plants] two\n[next] three\n[fails] four\n[fails] five\n")
    default: #expect(oprun.standardOutput == "")
    }
    let lines = oprun.standardError.components(separatedBy: "\n")
    let lost = /^! cannot read the log '.*\/fails.1.log': it was removed or replaced$/
    #expect(lines.count { $0.contains(lost) } == 1, "\(oprun.standardError)")
    let notice = /^! the log '.*\/(plants|fails).1.log' was removed or replaced while its command/
    #expect(lines.count { $0.contains(notice) } == (mode == "quiet" ? 0 : 2))
  }

  @Test func `may lose its backlog to a FIFO and still shows everything`() throws {
    let oprun = try OprunProcess(
      """
      steps:
        - id: a
          run: |
            mkfifo "$(dirname "$OPRUN_OUTPUT")/@output"
            seq 100000
      """, prefix: "exec timeout -s KILL 300", suffix: "| { sleep 0.3; cat; } >shown")
    #expect(oprun.wait() == 0)
    let wanted = (1...100_000).map { "\($0)\n" }.joined()
    let isWhole = oprun.content(of: "shown") == wanted
    #expect(isWhole)
  }

  @Test func `that a step takes away ends the run with 74`() throws {
    let mark = Mark()
    defer { mark.endAll() }
    let oprun = try OprunProcess(
      """
      max_parallel: 2
      steps:
        - {id: cleans, run: "while [ ! -e ready ]; do sleep 0.01; done; echo out; \(awaitsLog); rm -rf .oprun"}
        - {id: other, run: "touch ready; exec sleep \(mark)"}
        - {id: next, depends_on: [cleans], run: "touch next"}
      """)
    #expect(oprun.wait() == 74, "\(oprun.standardError)")
    #expect(oprun.standardOutput == "out\n")
    #expect(
      oprun.standardError.contains(
        /\n! stopping: the directory of the run, '.oprun\/runs\/[^']*', was removed or replaced: its/
      ))
    #expect(oprun.standardError.contains("\n✓ cleans "), "it did what it was told")
    #expect(mark.processes == [])
    #expect(!oprun.exists("next"))
  }

  @Test(arguments: [
    "rm -rf .oprun; false", "mv .oprun away", "mv .oprun away; mkdir .oprun",
    "mv .oprun/runs .oprun/away; ln -s away .oprun/runs",
    "cd .oprun/runs; for run in *; do mv $run ../away; ln -s ../away $run; done",
  ])
  func `that is not there at the end makes it 74`(script: String) throws {
    let oprun = try OprunProcess(
      pipeline(
        script:
          "echo out\n\(awaitsLog)\n\(script)"))
    #expect(oprun.wait() == 74, "\(oprun.standardError)")
    // Which of the two is noticed first depends on when the database is written.
    #expect(
      oprun.standardError.contains(
        /was removed or replaced(: its logs are lost| during the run)\n$/),
      "\(oprun.standardError)")
  }

  @Test func `that cannot be written is told of although a failure had ended the run`() throws {
    let oprun = try OprunProcess(
      """
      max_parallel: 2
      failure_policy: stop
      steps:
        - {id: fails, run: "while [ ! -e ready ]; do sleep 0.01; done; exit 3"}
        - id: goes_on
          run: |
            touch ready
            sleep 0.2
            folder=$(dirname "$OPRUN_OUTPUT")
            mkdir "$folder/goes_on.1.log" && touch "$folder/goes_on.1.log/file"
            echo out
      """)
    #expect(oprun.wait() == 74, "\(oprun.standardError)")
    #expect(oprun.standardError.contains("goes_on.1.log': directory not empty"))
  }

  @Test func `is of use with a umask that takes everything`() throws {
    let user = getuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups" : ""
    let oprun = try OprunProcess(
      """
      steps:
        - {id: a, run: "echo x=1 >>$OPRUN_OUTPUT; echo y=2 >>$OPRUN_OUTPUT; umask"}
        - {id: b, depends_on: [a], run: "echo ${{ steps.a.outputs.y }}; exit 3"}
      """,
      arguments: "--state-dir state/.oprun",
      prefix: "mkdir -m 777 state; chmod 755 .; umask 0777; exec \(user)")
    #expect(oprun.wait() == 1, "\(oprun.standardError)")
    #expect(oprun.standardOutput == "0777\n2\n")
    #expect(oprun.standardError.contains("\n  | 2\n"), "the log is read once more")
  }

  @Test func `in the project itself does not hide the project from git`() throws {
    let oprun = try OprunProcess(
      pipeline(script: "echo out"), arguments: "--state-dir .", prefix: "chmod 755 .; exec")
    #expect(oprun.wait() == 0, "\(oprun.standardError)")
    #expect(oprun.exists("runs") && !oprun.exists(".gitignore"))
  }
}
