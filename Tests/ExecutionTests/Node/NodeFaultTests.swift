// What a node refuses: the directory of the run, room on its disk, the task itself. Then there is no
// result, and Slurm's job fails with a sentence.

import Foundation
import Plans
import TestSupport
import Testing

@testable import Execution

@Suite(.blocking) struct NodeFaultTests {
  private let run: NodeRun

  init() throws { run = try NodeRun() }

  @Test func `a task that cannot be read is claimed by nobody`() throws {
    let path = run.files.path
    #expect(try run.start().wait() == 74)
    #expect(run.said() == "oprun: task '\(path)/tasks/1' does not exist\n")
    try run.files.write(Array("hello".utf8), to: .tasks, "1")
    #expect(try run.start().wait() == 74)
    #expect(
      run.said() == "oprun: '\(path)/tasks/1' is damaged, or of another version of oprun\n")
    #expect(try run.story == "")
  }

  @Test func `a directory that the node does not see is named`() throws {
    let program = builtProgram("oprun")
    let child = try Child(
      script: """
        export SLURM_JOB_ID=1 SLURMD_NODENAME=n2
        exec '\(program)' __task /nowhere 1 2>'\(run.folder)/said'
        """)
    #expect(child.wait() == 74)
    #expect(
      try String(contentsOfFile: run.folder + "/said", encoding: .utf8)
        == "oprun: cannot open '/nowhere/@node': no such file or directory\n")
  }

  @Test func `a directory that others can write to is refused`() throws {
    try run.write("touch ran")
    chmod(run.folder, 0o770)
    #expect(try run.start().wait() == 74)
    #expect(
      run.said()
        == "oprun: the directory of the run, '\(run.folder)', must belong to the user of the job, "
        + "and others must not be able to write to it\n")
    chmod(run.folder, 0o700)
    #expect(try run.story == "")
  }

  @Test func `a workspace that the node does not see fails the command with a sentence`() throws {
    try run.write("touch ran")
    rmdir(run.workspace)
    #expect(try run.start().wait() == 126)
    let result = try #require(try run.files.result(of: TaskStart(task: 1, restart: 0)))
    #expect(
      result.end.status
        == .notStarted(
          "cannot enter the directory '\(run.workspace)' on node 'n2': no such file or directory "
            + "(is it on a file system that all nodes share?)", exitCode: 126))
  }

  @Test(arguments: [
    ("", "wanted '__task RUN_DIRECTORY NUMBER', which oprun writes"),
    ("x", "wanted '__task RUN_DIRECTORY NUMBER', which oprun writes"),
    ("-1", "wanted '__task RUN_DIRECTORY NUMBER', which oprun writes"),
    ("1 2", "wanted '__task RUN_DIRECTORY NUMBER', which oprun writes"),
    ("--array 5", "this is not a job of an array: SLURM_ARRAY_TASK_ID is not set"),
  ])
  func `other words are a mistake of oprun`(words: String, message: String) throws {
    #expect(try run.start(words).wait() == 2)
    #expect(run.said() == "oprun: \(message)\n")
  }

  @Test func `outside of a job nothing runs`() throws {
    try run.write("touch ran")
    #expect(try run.start(prefix: "unset SLURM_JOB_ID; exec").wait() == 2)
    #expect(run.said() == "oprun: this is not a Slurm job: SLURM_JOB_ID is not set\n")
    #expect(try run.start(variables: ["SLURM_RESTART_COUNT": "x"]).wait() == 2)
    #expect(run.said() == "oprun: SLURM_RESTART_COUNT is 'x', wanted a number\n")
  }

  /// Runs oprun in a mount namespace of its own in which the directory of the run is a copy, on a file
  /// system with these options. What it says, and the copy at the end, are in the directory.
  private func mounted(_ options: String, before: String = ":") throws -> Int32 {
    let folder = run.folder
    let inside = """
      set -e
      cp -a "$0" "$0.copy"
      mount -t tmpfs -o size=2m,mode=700 none "$0"
      cp -a "$0.copy/." "$0/"
      \(before)
      mount -o remount,\(options) "$0"
      set +e
      cd /
      "$@" >"$0.said" 2>&1
      status=$?
      rm -rf "$0.copy"
      cp -a "$0" "$0.copy"
      exit $status
      """
    let child = try Child(
      script: """
        export SLURM_JOB_ID=100 SLURMD_NODENAME=n2
        unset OPRUN_STEP_COOKIE
        exec unshare -rm sh -c '\(inside)' '\(folder)' '\(builtProgram("oprun"))' __task '\(folder)' 1
        """)
    return child.wait()
  }

  private var said: String {
    (try? String(contentsOfFile: run.folder + ".said", encoding: .utf8)) ?? ""
  }

  @Test func `a read-only directory lets nothing run`() throws {
    try run.write("touch ran")
    #expect(try mounted("ro") == 74)
    #expect(
      said == "oprun: cannot write '\(run.files.path)/claims/1': read-only file system\n")
    #expect(run.work("ran") == "" && access(run.workspace + "/ran", F_OK) != 0)
  }

  @Test func `a full disk before the command lets nothing run`() throws {
    try run.write("touch ran")
    #expect(try mounted("size=2m", before: "head -c 9000000 /dev/zero >\"$0/big\" || :") == 74)
    #expect(
      said == "oprun: cannot write '\(run.files.path)/claims/1': no space left on device\n")
    #expect(access(run.workspace + "/ran", F_OK) != 0)
  }

  @Test func `a log that fills the disk ends the command, and there is room for the result`() throws
  {
    try run.write("head -c 9000000 /dev/zero; sleep 86400")
    #expect(try mounted("size=2m") == 143)
    let files = try NodeFiles.open(in: run.folder + ".copy")
    let result = try #require(try files.result(of: TaskStart(task: 1, restart: 0)))
    #expect(result.end.status == .signalled(SIGTERM))
    #expect(
      result.stateFailure == "cannot write '\(run.folder)/s.1.log': no space left on device")
    #expect(said == "")
  }
}
