// oprun and one of its guardians are killed at the same time, in any order: nothing of the steps
// survives.

import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct `Guardians` {
  /// The guardians: two, a moment after the first step has started.
  private func guardians(of oprun: OprunProcess) -> [Int32] {
    var found: [Int32] = []
    _ = eventually {
      found = TeardownTests.guardians(of: oprun.processID)
      return found.count == 2
    }
    return found
  }

  private func areGone(_ guardians: [Int32]) -> Bool {
    guardians.allSatisfy { arguments(of: $0).first != "guardian" }
  }

  /// Starts a step with leftovers of all kinds, does something to oprun (0) and its guardians (1, 2),
  /// and waits until nothing is left, the guardians included.
  private func expectNothing(
    after attack: (_ processes: [Int32]) -> Void
  ) throws {
    let mark = Mark()
    defer { mark.endAll() }
    let oprun = try OprunProcess(
      pipeline(
        script: """
          env -i setsid sh -c 'setsid sleep \(mark) & exit 0'
          setsid sleep \(mark) &
          (trap '' TERM; sleep \(mark)) &
          sleep \(mark)
          """))
    #expect(eventually { mark.processes.count == 4 })
    let pair = guardians(of: oprun)
    #expect(pair.count == 2)
    attack([oprun.processID] + pair)
    oprun.send(SIGKILL)
    _ = oprun.wait()
    #expect(eventually { mark.processes.isEmpty }, "left: \(mark.processes)")
    #expect(eventually { areGone(pair) })
  }

  /// It is started anew every half millisecond, and each time in a session of its own, so that it is nowhere when
  /// the list of all processes is read.
  @Test func `catch a process that forks and ends, again and again`() throws {
    let oprun = try OprunProcess(
      pipeline(
        script: """
          cat >hop.c <<'END'
          #include <fcntl.h>
          #include <unistd.h>
          int main(void) {
            for (;;) {
              int f = open("beat", O_WRONLY | O_CREAT, 0666);
              if (f < 0) _exit(0);  // The folder is gone: the test has failed.
              close(f);
              if (fork()) _exit(0);
              setsid();
              usleep(500);
            }
          }
          END
          mkfifo alive
          cc -o hop hop.c && ./hop 4<>alive &
          until test -e beat; do sleep 0.01; done
          touch here; sleep 86400
          """))
    #expect(eventually { oprun.exists("here") })
    // It has an end as long as one of them lives.
    let alive = open(oprun.folder.appending(path: "alive").path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    defer { close(alive) }
    func isAlive() -> Bool {
      var byte: UInt8 = 0
      return read(alive, &byte, 1) < 0 && errno == EAGAIN
    }
    #expect(isAlive(), "the probe must see it")
    oprun.send(SIGKILL)
    _ = oprun.wait()
    #expect(eventually { !isAlive() })
  }

  /// A step may open the pipes of its parent through `/proc`, also the one whose end says that oprun is
  /// gone.
  @Test func `notice the end of oprun when a step holds their pipe`() throws {
    let mark = Mark()
    defer { mark.endAll() }
    let oprun = try OprunProcess(
      pipeline(
        script: """
          exec python3 - <<'END'
          import os
          folder = f'/proc/{os.getppid()}/fd'
          for name in os.listdir(folder):
              if os.readlink(f'{folder}/{name}').startswith('pipe:'):
                  os.set_inheritable(os.open(f'{folder}/{name}', os.O_RDWR | os.O_NONBLOCK), True)
          if os.fork() == 0:
              os.setsid()
              os.execvp('sleep', ['sleep', '\(mark)'])
          os.execvp('sleep', ['sleep', '\(mark)'])
          END
          """))
    #expect(eventually { mark.processes.count == 2 })
    let pair = guardians(of: oprun)
    #expect(pair.count == 2)
    oprun.send(SIGKILL)
    _ = oprun.wait()
    #expect(eventually { mark.processes.isEmpty }, "left: \(mark.processes)")
    #expect(eventually { areGone(pair) })
  }

  @Test(arguments: [1, 2])
  func `are one too many to kill in one breath`(which: Int) throws {
    try expectNothing {
      kill($0[0], SIGKILL)
      kill($0[which], SIGKILL)
    }
    try expectNothing {
      kill($0[which], SIGKILL)
      kill($0[0], SIGKILL)
    }
  }

  @Test(arguments: [1, 2])
  func `stand in for one that was killed a moment before`(which: Int) throws {
    try expectNothing {
      kill($0[which], SIGKILL)
      usleep(1000)
    }
  }

  @Test(arguments: [1, 2])
  func `do not need one that is stopped`(which: Int) throws {
    try expectNothing { kill($0[which], SIGSTOP) }
  }

  @Test func `are in sessions of their own`() throws {
    try expectNothing { processes in
      // The second one has its session a moment after it exists.
      #expect(eventually { Set(processes.map { getsid($0) }).count == 3 })
      let sessions = processes.map { getsid($0) }
      // As `pkill -9 -s` does.
      for process in processes where getsid(process) == sessions[0] { kill(process, SIGKILL) }
    }
  }

  @Test func `are replaced when both are killed, or one after the other`() throws {
    let mark = Mark()
    defer { mark.endAll() }
    let oprun = try OprunProcess(
      pipeline(script: "sleep \(mark) & while [ ! -e go ]; do sleep 0.01; done"))
    for attack in [[0, 1], [0], [1], [1, 0]] {
      let pair = guardians(of: oprun)
      #expect(pair.count == 2)
      for index in attack { kill(pair[index], SIGKILL) }
      #expect(
        eventually {
          let now = guardians(of: oprun)
          return now.count == 2 && attack.allSatisfy { !now.contains(pair[$0]) }
        })
    }
    // They did not mistake each other's death for that of oprun.
    #expect(mark.processes.count == 1 && oprun.isRunning)
    let last = guardians(of: oprun)
    try Data().write(to: oprun.folder.appending(path: "go"))
    #expect(oprun.wait() == 0, "\(oprun.standardError)")
    #expect(mark.processes == [])
    #expect(eventually { areGone(last) })
    #expect(oprun.standardError.contains("left 1 process behind, killed: sleep"))
  }
}
