// What is recorded survives whatever happens to the program, the disk and the database.

import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct `What is recorded` {
  /// A chain with a side line: each step notes that it ran.
  private func chain(_ count: Int, sleep: String = "0") -> String {
    let steps = (0..<count).map { number in
      """
        - id: s\(number)
          depends_on: [\(number == 0 ? "" : "s\(number - 1)")]
          run: echo s\(number) >>"$RAN"; sleep \(sleep); echo "n=\(number)" >>"$OPRUN_OUTPUT"

      """
    }
    return "steps:\n" + steps.joined()
  }

  private func workspace(_ pipeline: String) throws -> Workspace {
    let place = try Workspace(named: "state", holding: [])
    try place.write(pipeline, to: "pipeline.yml")
    return place
  }

  /// Compares what ran before and after with what was recorded in between.
  private static let check = """
    recorded() { sqlite3 "$1" "SELECT step.name FROM result JOIN step ON step.id = step WHERE outcome = 0 AND run = 1" | sort; }
    again() { sort "$1" | comm -12 - "$2" | head -n 5; }
    """

  /// Starts a program that does with the database what is written to descriptor 3.
  private static let hold =
    "mkfifo hold; sqlite3 -cmd '.timeout 600000' .oprun/state.db <hold & exec 3>hold"

  @Test func `is not run again after a copy that was taken at any moment`() throws {
    let place = try workspace(chain(40, sleep: "0.01"))
    let end = try place.run(
      """
      \(Self.check)
      RAN=$PWD/ran oprun pipeline.yml --output quiet & run=$!
      for copy in 5 20 35; do
        until test -e ran && test $(wc -l <ran) -ge $copy; do sleep 0.01; done
        mkdir ../copy$copy; cp -r . ../copy$copy/
      done
      wait $run; echo "original $?"
      for copy in 5 20 35; do
        cd ../copy$copy; recorded .oprun/state.db >recorded
        RAN=$PWD/again oprun resume --output quiet 2>/dev/null; echo "$copy: $?"
        : >>again # The run may have been over before the copy was taken.
        again again recorded
        sort recorded again | uniq | wc -l
        sqlite3 .oprun/state.db 'PRAGMA integrity_check'
      done
      """)
    #expect(
      end.output == "original 0\n" + [5, 20, 35].map { "\($0): 0\n40\nok\n" }.joined(),
      "\(end.errors)")
  }

  @Test func `stays when the disk is full, and the rest runs later`() throws {
    let place = try workspace(
      "steps:\n"
        + (0..<400).map { number in
          let before = number == 0 ? "" : "s\(number - 1)"
          return
            "  - {id: s\(number), depends_on: [\(before)], run: 'echo s\(number) >>ran; echo n=\(String(repeating: "x", count: 3000)) >>$OPRUN_OUTPUT'}\n"
        }.joined())
    let end = try place.run(
      """
      mkdir state; exec unshare -rm sh -c '
        mount -t tmpfs -o size=1m none state
        oprun pipeline.yml --state-dir state/.oprun --output quiet 2>errors; echo $?
        grep -c "no space left\\|disk is full\\|disk I/O error" errors
        mount -o remount,size=16m state
        cp ran before; sqlite3 state/.oprun/state.db "PRAGMA integrity_check"
        sqlite3 state/.oprun/state.db "SELECT name FROM result JOIN step ON id = step WHERE outcome = 0" | sort >recorded
        test $(wc -l <recorded) -gt 5 && echo many
        : >ran; oprun resume --state-dir state/.oprun --output quiet 2>errors; echo $?
        sort ran | comm -12 - recorded; sort ran recorded | uniq | wc -l
        sqlite3 state/.oprun/state.db "PRAGMA integrity_check"'
      """)
    #expect(end.output == "74\n1\nok\nmany\n0\n400\nok\n", "\(end.errors)")
  }

  @Test func `has no half-written file beside it when there was no space for one`() throws {
    let place = try workspace("steps: [{id: s, run: 'true'}]")
    let end = try place.run(
      """
      mkdir disk; exec unshare -rm sh -c '
        mount -t tmpfs -o size=64k none disk
        head -c 100000 /dev/zero >disk/fill
        oprun pipeline.yml --state-dir disk/.oprun; echo $?
        ls -A disk
        rm disk/fill; mount -o remount,size=4m disk
        oprun pipeline.yml --state-dir disk/.oprun --output quiet; echo $?
        cat disk/.oprun/.gitignore'
      """)
    #expect(end.output == "74\nfill\n0\n*\n", "\(end.errors)")
    #expect(end.errors.contains("cannot write 'disk/.oprun/.gitignore': no space left"))
  }

  @Test func `says that there is no space left, whatever does not fit`() throws {
    let place = try workspace("steps: [{id: s, run: 'true'}]")
    let end = try place.run(
      """
      mkdir state; exec unshare -rm sh -c '
        mount -t tmpfs -o size=1m none state
        for fill in 960 976 980 984 988 992 996 1000; do
          rm -rf state/.oprun state/fill; head -c ${fill}k /dev/zero >state/fill
          oprun pipeline.yml --state-dir state/.oprun --output quiet 2>>errors; echo $? >>ends
        done
        grep -c 74 ends; grep -c "not recorded: .*\\(no space left\\|disk is full\\)" errors'
      """)
    #expect(end.output == "7\n7\n", "\(end.errors)")
  }

  @Test func `begins with a database that fits on the disk in whole, or with none`() throws {
    let place = try workspace("steps: [{id: s, run: sleep 0.1}]")
    let end = try place.run(
      """
      mkdir state; exec unshare -rm sh -c '
        mount -t tmpfs -o size=64k none state
        for pages in 1 2; do
          rm -rf state/.oprun; mkdir state/.oprun
          head -c 1m /dev/zero >state/fill 2>/dev/null; truncate -s -$((pages * 4))k state/fill
          df --output=avail -B 4096 state | tail -n 1 | tr -d " "
          oprun pipeline.yml --state-dir state/.oprun --output quiet 2>errors; echo $?
          sed "s/.* stopped: //" errors; ls state/.oprun
        done'
      """)
    let failure =
      "the run is not recorded: cannot create 'state/.oprun/state.db': no space left on device"
    #expect(
      end.output == [1, 2].map { "\($0)\n74\n\(failure)\nruns\n" }.joined(), "\(end.errors)")
  }

  @Test func `waits for another program that has locked the database`() throws {
    // Where the machine is slow the lock can be gone before the run asks for it.
    let isTold = try once {
      let place = try workspace(chain(5))
      let end = try place.run(
        """
        export RAN=$PWD/ran; oprun pipeline.yml --output quiet
        \(Self.hold)
        printf 'BEGIN IMMEDIATE;\\n.shell touch locked\\n' >&3
        until test -e locked; do sleep 0.01; done; (sleep 0.5; echo 'COMMIT;' >&3) &
        oprun pipeline.yml --output quiet; echo $?; exec 3>&-; wait
        sqlite3 .oprun/state.db 'SELECT run, count(*) FROM result WHERE outcome = 0 GROUP BY run'
        """)
      #expect(end.output == "0\n1|5\n2|5\n", "\(end.errors)")
      let told = end.errors.replacing(/for [0-9.]+(ms|s)/, with: "for TIME")
      return told == """
        oprun: another program locked the state database: the run waited for the lock for TIME, \
        and steps that ended in this time may seem to have taken longer

        """
    }
    #expect(isTold)
  }

  @Test func `waits in the journal of the run while another program has locked the database`()
    throws
  {
    let place = try workspace(
      "steps:\n"
        + (0..<40).map {
          "  - {id: s\($0), depends_on: [\($0 == 0 ? "" : "s\($0 - 1)")], run: echo >>ran}\n"
        }
        .joined())
    // The lock is held until the last step has run, so a run that waited for it would wait for ever.
    let end = try place.run(
      """
      lines() { test -e ran && test $(wc -l <ran) -ge $1; }
      mkfifo hold; oprun pipeline.yml --output quiet & run=$!
      until lines 12; do sleep 0.005; done
      sqlite3 -cmd '.timeout 600000' .oprun/state.db <hold & exec 3>hold; echo 'BEGIN IMMEDIATE;' >&3
      until lines 40; do sleep 0.01; done; echo 'COMMIT;' >&3; exec 3>&-
      wait $run; echo $?; wait; ls -A .oprun/runs/*
      sqlite3 .oprun/state.db 'SELECT count(*) FROM result WHERE outcome = 0; SELECT exit_status FROM run'
      """)
    #expect(end.output == "0\n@lock\n40\n0\n", "\(end.errors)")
  }

  @Test func `is in the journal of a run that is killed, and found by everybody`() throws {
    let place = try workspace(
      "max_parallel: 2\nsteps:\n"
        + (0..<3000).map { "  - {id: s\($0), run: echo s\($0) >>ran}\n" }.joined())
    let end = try place.run(
      """
      oprun pipeline.yml --output quiet & run=$!
      until test -e ran && test $(wc -l <ran) -ge 500; do sleep 0.01; done
      kill -9 $run; wait $run 2>/dev/null; echo $?
      until oprun history | grep -q died; do sleep 0.02; done
      before=$(wc -l <ran); recorded=$(oprun show --json | grep -o '"outcome":"succeeded"' | wc -l)
      test $recorded -ge $((before - 4)) || echo "$recorded of $before"
      sqlite3 .oprun/state.db "SELECT name FROM result JOIN step ON id = step WHERE outcome = 0" | sort >recorded
      : >ran; oprun resume --output quiet 2>/dev/null; echo $?; sort ran | comm -12 - recorded
      sort ran recorded | uniq | wc -l
      """)
    #expect(end.output == "137\n0\n3000\n", "\(end.errors)")
  }

  @Test func `includes the end of a run, which waits for another program's lock`() throws {
    #expect(try once { try isEndTold() })
  }

  /// Whether it is told that the end of a run waited: where the machine is slow the lock can be gone before.
  private func isEndTold() throws -> Bool {
    let place = try workspace(chain(1))
    try place.write(
      """
      steps:
        - id: lock
          run: |
            printf 'BEGIN IMMEDIATE;\\n.shell touch locked\\n' >hold
            until test -e locked; do sleep 0.01; done
            touch ended
      """, to: "lock.yml")
    let end = try place.run(
      """
      export RAN=$PWD/ran; oprun pipeline.yml --output quiet
      \(Self.hold)
      (until test -e ended; do sleep 0.01; done; sleep 0.5; printf '.shell touch released\\nCOMMIT;\\n' >&3) &
      oprun lock.yml --output quiet; echo $?; ls released; exec 3>&-; wait
      sqlite3 .oprun/state.db 'SELECT outcome FROM result WHERE run = 2; SELECT exit_status, duration > 0 FROM run'
      """)
    #expect(end.output == "0\nreleased\n0\n0|1\n0|1\n", "\(end.errors)")
    // The success of the step may be recorded a moment before the end of the run, and wait in its place.
    let told = end.errors.replacing(/for [0-9.]+(ms|s)/, with: "for TIME")
    let locked = "oprun: another program locked the state database: the "
    return told == "\(locked)end of the run waited for the lock for TIME\n"
      || told
        == "\(locked)run waited for the lock for TIME, and steps that ended in this time may seem to have taken longer\n"
  }

  @Test(.enabled(if: getuid() == 0, "only root can be two users"))
  func `belongs to one user, of whom others are told, and how it changes hands`() throws {
    let place = try workspace("steps: [{id: a, run: exit}]")
    let end = try place.run(
      """
      exec 2>&1; chmod 777 . ..
      as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups -- oprun "$@"; }
      oprun pipeline.yml --output quiet
      for words in "run pipeline.yml" status "cancel last"; do echo "# $words"; as_nobody $words; done
      chown 65534 .oprun .oprun/runs; echo "# halfway"; as_nobody pipeline.yml; as_nobody history
      chown -R 65534 .oprun; echo "# wholly"; as_nobody pipeline.yml --output quiet; echo $?
      for words in "run pipeline.yml" status "resume last"; do echo "# $words"; oprun $words; done
      """)
    #expect(
      end.output == """
        # run pipeline.yml
        oprun: the state directory '.oprun' belongs to root, wanted user 65534, the user that runs oprun
          help: run chown -R 65534 '.oprun' as root, or choose another with --state-dir or OPRUN_STATE_DIR
        # status
        oprun: the state directory '.oprun' belongs to root, wanted user 65534, the user that runs oprun
          help: run oprun as root
        # cancel last
        oprun: the state directory '.oprun' belongs to root, wanted user 65534, the user that runs oprun
          help: run oprun as root
        # halfway
        oprun: cannot write '.oprun/state.db': permission denied
          help: run chown -R 65534 '.oprun' as root, or choose another directory with --state-dir
        oprun: cannot open '.oprun/state.db': permission denied
          help: run chown -R 65534 '.oprun' as root
        # wholly
        0
        # run pipeline.yml
        oprun: the state directory '.oprun' belongs to user 65534, wanted root, the user that runs oprun
          help: run oprun as user 65534, or choose another with --state-dir or OPRUN_STATE_DIR
        # status
        oprun: the state directory '.oprun' belongs to user 65534, wanted root, the user that runs oprun
          help: run oprun as user 65534
        # resume last
        oprun: the state directory '.oprun' belongs to user 65534, wanted root, the user that runs oprun
          help: run oprun as user 65534

        """)
  }

  @Test func `cannot be added to in a read-only database, so nothing starts`() throws {
    let place = try workspace(chain(5))
    let end = try place.run(
      """
      export RAN=$PWD/ran; oprun pipeline.yml --output quiet; rm ran
      exec unshare -rm sh -c '
        mount --bind .oprun/state.db .oprun/state.db; mount -o remount,bind,ro .oprun/state.db
        oprun pipeline.yml --output quiet; echo $?; oprun resume --from s1 2>errors; echo $?; tail -n 2 errors
        test -e ran || echo nothing ran'
      """)
    let message = """
      oprun: cannot write '.oprun/state.db': read-only file system
        help: make it writable, or choose another directory with --state-dir

      """
    #expect(end.output == "74\n74\n\(message)nothing ran\n")
    #expect(end.errors == message)
  }

  @Test func `is whole when two runs are recorded at once`() throws {
    let place = try workspace(chain(100))
    let end = try place.run(
      """
      export RAN=$PWD/ran; oprun pipeline.yml --output quiet & oprun pipeline.yml --output quiet; echo $?
      wait $!; echo $?
      sqlite3 .oprun/state.db 'SELECT run, count(*) FROM result WHERE outcome = 0 GROUP BY run; PRAGMA integrity_check'
      """)
    #expect(end.output == "0\n0\n1|100\n2|100\nok\n", "\(end.errors)")
  }

  @Test func `is enough after a kill at any moment`() throws {
    for moment in [1, 6, 11, 16] {
      let place = try workspace(chain(20, sleep: "0.005"))
      let end = try place.run(
        """
        \(Self.check)
        export RAN=$PWD/ran; oprun pipeline.yml --output quiet & run=$!
        until test -e ran && test $(wc -l <ran) -ge \(moment); do sleep 0.005; done
        kill -9 $run; wait $run; test ! -e .oprun/state.db || recorded .oprun/state.db >recorded; touch recorded
        export RAN=$PWD/again; oprun run pipeline.yml --resume --output quiet 2>/dev/null; echo $?
        again again recorded; sort recorded again | uniq | wc -l
        sqlite3 .oprun/state.db 'PRAGMA integrity_check'
        """)
      #expect(end.output == "0\n20\nok\n", "\(moment): \(end.errors)")
    }
  }

  @Test func `needs no more than 120 bytes for a step`() throws {
    let place = try workspace(
      "max_parallel: 8\nsteps:\n"
        + (0..<2000).map { "  - {id: step-number-\($0), run: [\"true\"]}\n" }.joined())
    let end = try place.run(
      """
      oprun pipeline.yml --output quiet; oprun pipeline.yml --output quiet
      sqlite3 .oprun/state.db 'PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null
      first=$(stat -c %s .oprun/state.db); echo $first >&2; test $first -lt 480000 && echo small
      """)
    #expect(end.output == "small\n", "\(end.errors)")
  }
}
