// The step cache when the disk is full, or nothing can be written to it: a run goes on without it, and nothing wrong is
// restored.

import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct `The step cache` {
  /// A step whose output has as many bytes as the file `size` says.
  private func workspace() throws -> Workspace {
    let place = try Workspace(named: "cache", holding: [])
    try place.write(
      """
      steps:
        - id: make
          run: echo ran >>"$RAN"; mkdir -p out; yes | head -c $(cat size) >out/large; echo small >out/small
          cache: {enforce: false, inputs: [size], outputs: [out/], env: [RAN]}
      """, to: "pipeline.yml")
    return place
  }

  private static let helpers = """
    export RAN=$PWD/ran
    r() { : >$RAN; oprun pipeline.yml --output quiet "$@" 2>errors; echo "$? $(wc -l <$RAN) $(cat out/* | wc -c)"; }
    """

  @Test func `goes on when the disk is full while a result is stored`() throws {
    let end = try workspace().run(
      """
      mkdir state; exec unshare -rm sh -c '
        \(Self.helpers.replacingOccurrences(of: "'", with: "'\\''"))
        mount -t tmpfs -o size=1m none state
        echo 3000000 >size; r --state-dir state/.oprun
        oprun pipeline.yml --state-dir state/.oprun 2>&1 | grep ^!
        find state/.oprun/cache -name "tmp-*"; find state/.oprun/cache/ac -type f
        echo 1000 >size; r --state-dir state/.oprun; r --state-dir state/.oprun
        rm -r out; r --state-dir state/.oprun'
      """)
    #expect(
      end.output == """
        0 1 3000006
        ! step 'make' is not cached: cannot copy 'out/large': no space left on device
        0 1 1006
        0 0 1006
        0 0 1006

        """, "\(end.errors)")
  }

  /// The cache on a small file system: `full` fills it, and `free` makes room. `r` runs a step that does what it is told.
  private static let smallCache = """
    cat >pipeline.yml <<END
    steps: [{id: make, run: sh ./do, cache: {enforce: false, inputs: [], outputs: [out]}}]
    END
    mkdir -p .oprun/cache; mount -t tmpfs -o size=1m,mode=700 none .oprun/cache
    full() { head -c 2m /dev/zero >.oprun/cache/fill 2>/dev/null; }
    free() { rm .oprun/cache/fill; }
    r() {
      echo "echo ran >>ran; $1" >do; : >ran; oprun pipeline.yml >seen 2>&1
      echo "$? $(wc -l <ran) $(cat out)"; grep ^! seen
    }
    """

  private static let full =
    "! step 'make' is not cached: cannot write to '.oprun/cache': no space left on device"
  private static let doubtful =
    "! step 'make' is not cached: output 'out' is what an attempt that did not succeed has left, "
    + "and the step has not written it since; remove it"

  private func runInSmallCache(_ script: String) throws -> String {
    let place = try Workspace(named: "noted", holding: [])
    let end = try place.run("exec unshare -rm bash -c '\(Self.smallCache)\n\(script)'")
    return end.output + end.errors
  }

  @Test func `keeps nothing of an attempt before which it cannot be noted what is there`() throws {
    #expect(
      try runInSmallCache("full; r \"echo whole >out\"; free; r \"echo more >>out\"; r") == """
        0 1 whole
        \(Self.full)
        0 1 whole
        more
        0 0 whole
        more

        """)
  }

  @Test func `knows what an attempt has left while the disk is full`() throws {
    // The file was there before, so it is not removed.
    #expect(
      try runInSmallCache(": >out; r \"echo half >out; exit 1\"; full; r; free; r; r") == """
        1 1 half
        0 1 half
        ! step 'make' is not cached: cannot copy 'out': no space left on device
        0 1 half
        \(Self.doubtful)
        0 1 half
        \(Self.doubtful)

        """)
  }

  @Test func `does not remove what it cannot know to be of an attempt`() throws {
    // The note of the attempt that was killed says that there was nothing before.
    #expect(
      try runInSmallCache(
        """
        echo "touch begun; sleep 600" >do; oprun pipeline.yml >/dev/null 2>&1 & run=$!
        until test -e begun; do sleep 0.01; done; kill -9 $run; wait $run 2>/dev/null
        echo mine >out; full; r "rm .oprun/cache/fill; exit 1"; r; r
        """) == """
          1 1 mine
          0 1 mine
          \(Self.doubtful)
          0 1 mine
          \(Self.doubtful)

          """)
  }

  @Test func `takes nothing for restored that the disk has no room for`() throws {
    let end = try workspace().run(
      """
      mkdir work; cp pipeline.yml work; exec unshare -rm sh -c '
        \(Self.helpers.replacingOccurrences(of: "'", with: "'\\''"))
        state=$PWD/state
        mount -t tmpfs -o size=8m none work; cp pipeline.yml work; cd work
        echo 3000000 >size; r --state-dir $state; r --state-dir $state; rm -r out
        mount -o remount,size=1m .; mkdir out; r --state-dir $state
        r --state-dir $state; ls -A out
        mount -o remount,size=8m .; r --state-dir $state; r --state-dir $state'
      """)
    #expect(
      end.output.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("1 1 ") } == [
        "0 1 3000006", "0 0 3000006", "large", "0 0 3000006", "0 0 3000006",
      ], "\(end.output)\(end.errors)")
    #expect(end.output.split(separator: "\n").count { $0.hasPrefix("1 1 ") } == 2, "\(end.output)")
  }

  @Test func `gives what it has when it is read-only, and says that it keeps nothing`() throws {
    let end = try workspace().run(
      """
      \(Self.helpers)
      echo 1000 >size; r; rm -r out; rm .oprun/cache/index
      exec unshare -rm sh -c '
        \(Self.helpers.replacingOccurrences(of: "'", with: "'\\''"))
        mount --bind .oprun/cache .oprun/cache; mount -o remount,bind,ro .oprun/cache
        r; echo 2000 >size; r; oprun pipeline.yml 2>&1 | grep ^! | sort -u'
      """)
    #expect(
      end.output == """
        0 1 1006
        0 0 1006
        0 1 2006
        ! step 'make' is not cached: cannot write to '.oprun/cache': read-only file system

        """, "\(end.errors)")
  }

  @Test func `removes nothing that somebody has mounted in an output directory`() throws {
    let end = try workspace().run(
      """
      \(Self.helpers)
      echo 1000 >size; r
      mkdir out/place data; echo precious >data/file
      exec unshare -rm sh -c '
        mount --bind data out/place
        oprun pipeline.yml 2>&1 | grep ^!
        cat data/file'
      """)
    #expect(
      end.output == """
        0 1 1006
        ! the outputs of step 'make' are not restored: something is mounted on 'out/place', in an output
        ! step 'make' is not cached: something is mounted on 'out/place', in an output
        precious

        """, "\(end.errors)")
  }

  @Test func `is used while another program has locked it, and nothing of it is removed`() throws {
    let end = try workspace().run(
      """
      \(Self.helpers)
      echo 1000 >size; r
      touch -d 2001-01-01 .oprun/cache/swept .oprun/cache/ac/*/*
      cat >holder.py <<'END'
      import fcntl, subprocess, sys
      lock = open(".oprun/steps-lock", "r+")
      fcntl.lockf(lock, fcntl.LOCK_SH | fcntl.LOCK_NB, 1, 1 << 62)
      sys.exit(subprocess.call(["sh", "-c", sys.argv[1]]))
      END
      python3 holder.py '
        \(Self.helpers.replacingOccurrences(of: "'", with: "'\\''"))
        rm -r out; r; find .oprun/cache/ac -type f | wc -l'
      """)
    #expect(end.output == "0 1 1006\n0 0 1006\n1\n", "\(end.errors)")
  }

  @Test func `neither keeps nor removes what is mounted in an output`() throws {
    let place = try Workspace(named: "mounted", holding: [])
    try place.write(
      """
      steps:
        - id: make
          run: mkdir -p root/home; cat in >root/x
          cache: {enforce: false, inputs: [in], outputs: [root/]}
        - id: match
          run: mkdir -p match/home; cat in >match/home/x
          cache: {enforce: false, inputs: [in], outputs: ["match/**"]}
      """, to: "pipeline.yml")
    let end = try place.run(
      """
      exec unshare -rm sh -c '
        r() { oprun pipeline.yml --output quiet >/dev/null 2>&1; echo $?; find data -type f | sort; }
        echo 1 >in; r; mkdir -p data/sub; for i in file sub/file x; do echo precious >data/$i; done
        mount --bind data root/home; mount --bind data match/home; r; rm root/x; r; echo 2 >in; sed -i s,home/x,x, pipeline.yml; r
        oprun pipeline.yml 2>&1 | grep ^! | sort
        umount root/home match/home; mount --bind data root; r'
      """)
    let files = "data/file\ndata/sub/file\ndata/x\n"
    #expect(
      end.output == """
        0
        0
        \(files)0
        \(files)0
        \(files)! step 'make' is not cached: something is mounted on 'root/home', in an output
        ! step 'match' is not cached: something is mounted on 'match/home', in an output
        0
        \(files)
        """, "\(end.errors)")
  }
}
