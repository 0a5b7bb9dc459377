// Whose processes are those that turn up as oprun's children, what becomes of what they print, and what
// it costs to look at them.

import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct `Processes that turn up` {
  /// A command that prints how many processes there are with this mark.
  private static func count(_ mark: Mark) -> String {
    "grep -lzxs '[8]\(mark.seconds.dropFirst())' /proc/[0-9]*/cmdline | wc -l"
  }

  @Test func `are seen however many other children there are`() throws {
    let mine = Mark()
    let others = Mark()
    defer { mine.endAll(); others.endAll() }
    let oprun = try OprunProcess(
      """
      max_parallel: 2
      steps:
        - id: many
          run: |
            i=0
            while [ $i -lt 1000 ]; do (setsid sleep \(others) >&- 2>&- &); i=$((i + 1)); done
            touch begun
            while [ ! -e over ]; do sleep 0.01; done
        - id: leaver
          run: |
            while [ ! -e begun ]; do sleep 0.01; done
            setsid sleep \(mine) &
            \(awaitsSleep)
        - id: witness
          depends_on: [leaver]
          run: |
            \(Self.count(mine))
            touch over
      """)
    #expect(oprun.wait() == 0, "\(oprun.standardError)")
    #expect(oprun.standardOutput == "0\n")
    #expect(oprun.standardError.contains(/leaver +left 1 process behind, killed: sleep/))
    #expect(mine.processes == [] && others.processes == [])
  }

  /// The usual way to pass variables from one step to the next also passes on the mark of the first.
  @Test func `are the command's in whose group they are, whatever mark they carry`() throws {
    let mark = Mark()
    defer { mark.endAll() }
    let oprun = try OprunProcess(
      """
      steps:
        - {id: a, run: export -p >env.sh}
        - id: b
          depends_on: [a]
          run: |
            . ./env.sh
            sleep \(mark) &
            \(awaitsSleep)
            setsid sleep \(mark) &
            \(awaitsSleep)
        - id: c
          depends_on: [b]
          run: |
            \(Self.count(mark))
      """)
    #expect(oprun.wait() == 0, "\(oprun.standardError)")
    #expect(oprun.standardOutput == "0\n")
    #expect(oprun.standardError.contains(/b +left 2 processes behind, killed: sleep/))
  }

  @Test func `are the command's whose pipe they hold, if nothing else says whose they are`() throws
  {
    let oprun = try OprunProcess(
      """
      max_parallel: 2
      steps:
        - {id: other, run: 'while [ ! -e over ]; do sleep 0.01; done'}
        - id: b
          run: |
            env -i setsid sh -c 'while :; do echo spam >&2; : >spammed; sleep 0.01; done' >&2 &
            while [ ! -e spammed ]; do sleep 0.01; done
        - id: c
          depends_on: [b]
          run: sleep 0.5; echo "one line"; touch over
      """)
    #expect(oprun.wait() == 0, "\(oprun.standardError)")
    #expect(oprun.standardOutput.replacing("spam\n", with: "") == "one line\n")
    #expect(oprun.standardOutput.hasSuffix("spam\none line\n"))
    let logs = oprun.folder.appending(path: ".oprun/runs")
    let run = try FileManager.default.contentsOfDirectory(atPath: logs.path).first ?? ""
    #expect(oprun.content(of: ".oprun/runs/\(run)/c.1.log") == "one line\n")
    #expect(oprun.standardError.contains(/b +left 1 process behind, killed: sh/))
  }

  @Test func `and write to the pipe of a command that has ended keep nobody busy`() throws {
    let oprun = try OprunProcess(
      """
      max_parallel: 2
      steps:
        - {id: a, run: 'echo $$ >a.pid; while [ ! -e over ]; do sleep 0.01; done'}
        - {id: b, run: 'echo $$ >b.pid; while [ ! -e over ]; do sleep 0.01; done'}
        - id: c
          depends_on: [a, b]
          run: |
            touch c
            while [ ! -e written ]; do sleep 0.01; done
            cat /proc/$PPID/stat >before; sleep 2; cat /proc/$PPID/stat >after
      """, arguments: "--output quiet")
    func number(in file: String) -> Int32? {
      Int32(oprun.content(of: file).trimmingCharacters(in: .whitespacesAndNewlines))
    }
    #expect(eventually { number(in: "a.pid") != nil && number(in: "b.pid") != nil })
    let pipes = ["a.pid", "b.pid"].map { open("/proc/\(number(in: $0) ?? 0)/fd/1", O_WRONLY) }
    #expect(pipes.allSatisfy { $0 >= 0 })
    oprun.touch("over")
    #expect(eventually { oprun.exists("c") })
    for pipe in pipes { _ = write(pipe, "intruder\n", 9) }
    oprun.touch("written")
    #expect(oprun.wait() == 0, "\(oprun.standardError)")
    for pipe in pipes { close(pipe) }
    let ticks =
      processorTicks(oprun.content(of: "after")) - processorTicks(oprun.content(of: "before"))
    #expect(ticks < 50, "\(ticks) of some 200 hundredths of a second")
  }

  /// Processor time in hundredths of a second, from the status of a process.
  private func processorTicks(_ line: String) -> Int {
    let fields = line.split(separator: ")").last?.split(separator: " ") ?? []
    return fields.count > 12 ? (Int(fields[11]) ?? 0) + (Int(fields[12]) ?? 0) : 1 << 20
  }

  /// It looks as if it was starting a program.
  @Test func `without a readable environment hold nothing up`() throws {
    let mark = Mark()
    defer { mark.endAll() }
    let unmap = """
      import ctypes, os, sys
      for _ in range(20):
          if os.fork() == 0:
              os.setsid()
              if os.fork(): os._exit(0)
              numbers = open('/proc/self/stat').read().rsplit(')', 1)[1].split()
              start, end = int(numbers[47]) & ~4095, int(numbers[48]) + 4095 & ~4095
              for descriptor in range(3): os.close(descriptor)
              ctypes.CDLL(None).munmap(ctypes.c_void_p(start), ctypes.c_size_t(end - start))
              open('unmapped', 'a').write('x')
              import time
              time.sleep(float(sys.argv[1]))
      """
    let steps = (0..<40).map { "  - {id: s\($0), run: 'true', depends_on: [first]}\n" }.joined()
    let oprun = try OprunProcess(
      """
      max_parallel: 2
      steps:
        - id: evil
          run: |
            python3 -c "$UNMAP" \(mark)
            while [ ! -e over ]; do sleep 0.01; done
        - id: first
          run: 'until [ "$(cat unmapped 2>/dev/null)" = \(String(repeating: "x", count: 20)) ]; do sleep 0.01; done'
        - id: last
          depends_on: [\((0..<40).map { "s\($0)" }.joined(separator: ", "))]
          run: date +%s.%N >last; touch over
        - {id: start, depends_on: [first], run: date +%s.%N >start, priority: 9}

      """ + steps,
      prefix: "export UNMAP='\(unmap.replacing("'", with: "'\\''"))'; exec")
    #expect(oprun.wait() == 0, "\(oprun.standardError)")
    let times = ["start", "last"].map {
      Double(oprun.content(of: $0).trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
    }
    #expect(times[0] > 0 && times[1] - times[0] < 60, "\(times[1] - times[0]) s")
    #expect(mark.processes == [])
  }

  @Test func `are not looked at again and again while their command goes on`() throws {
    let mark = Mark()
    defer { mark.endAll() }
    let steps = (0..<500).map { "  - {id: s\($0), run: 'true', depends_on: [start]}\n" }.joined()
    let oprun = try OprunProcess(
      """
      max_parallel: 2
      steps:
        - id: service
          run: |
            i=0
            while [ $i -lt 300 ]; do (setsid sleep \(mark) >&- 2>&- &); i=$((i + 1)); done
            touch begun
            while [ ! -e over ]; do sleep 0.01; done
        - {id: start, run: 'while [ ! -e begun ]; do sleep 0.01; done; echo $PPID >pid'}
        - id: last
          depends_on: [\((0..<500).map { "s\($0)" }.joined(separator: ", "))]
          run: grep syscr /proc/$PPID/io; touch over

      """ + steps, arguments: "--output grouped")
    #expect(oprun.wait() == 0, "\(oprun.standardError)")
    let reads = Int(oprun.standardOutput.filter(\.isNumber)) ?? .max
    #expect(reads < 500 * 300 / 4, "\(reads) calls of read(2)")
    #expect(mark.processes == [])
  }

  @Test func `in a container whose first process is oprun are not ended if others started them`()
    throws
  {
    let mark = Mark()
    let left = Mark()
    defer { mark.endAll(); left.endAll() }
    let oprun = try OprunProcess(
      """
      steps:
        - id: step
          run: |
            echo $$ >here
            while [ ! -e over ]; do sleep 0.01; done
            setsid sleep \(left) &
            \(awaitsSleep)
        - id: look
          depends_on: [step]
          run: |
            \(Self.count(mark))
      """, prefix: "exec unshare --user --map-root-user --pid --fork --mount-proc")
    #expect(
      eventually { oprun.exists("here") || !oprun.isRunning } && oprun.isRunning,
      "NOT TESTED: there can be no namespace of processes here")
    // `here` has the number inside.
    let children = "/proc/\(oprun.processID)/task/\(oprun.processID)/children"
    let inner = (try? String(contentsOfFile: children, encoding: .utf8)) ?? ""
    let entered = try Child(
      script: """
        exec nsenter --target \(inner.trimmingCharacters(in: .whitespaces)) --user --pid --mount \
          env -i sh -c '(setsid sleep \(mark) >/dev/null 2>&1 </dev/null &)'
        """
    ).wait()
    #expect(entered == 0)
    #expect(eventually { !mark.processes.isEmpty })
    oprun.touch("over")
    #expect(oprun.wait() == 0, "\(oprun.standardError)")
    #expect(oprun.standardOutput == "1\n")
    #expect(oprun.standardError.contains("left 1 process behind, killed: sleep"))
  }
}
