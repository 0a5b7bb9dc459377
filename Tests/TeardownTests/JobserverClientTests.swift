// A run in the recipe of a make takes no more job slots than that make gives.

import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct `A run in a recipe of make` {
  /// Both kinds of jobserver.
  static let makes = ["make", "\(Workshop.tools)/make"]

  private let pipeline =
    "steps:\n" + (1...5).map { "  - {id: s\($0), run: ./cc s\($0)}\n" }.joined()

  @Test(arguments: makes) func `shares the job slots of that make`(make: String) throws {
    let shop = try Workshop(
      waitingFor: 3,
      files: [
        "pipeline.yml": pipeline,
        "Makefile": """
        all: run x y z
        run: ; +@oprun pipeline.yml
        x y z: ; @./cc $@

        """,
      ])
    defer { shop.remove() }
    #expect(try shop.run("exec '\(make)' -j3") == 0, "\(shop.output)")
    #expect(shop.peak == 3)
    #expect(!shop.output.contains("INTERNAL"), "make counts its tokens: \(shop.output)")
    #expect(!shop.output.contains("slots"), "\(shop.output)")
  }

  @Test(arguments: makes) func `lets makes in its steps share them, too`(make: String) throws {
    let shop = try Workshop(
      waitingFor: 3,
      files: Workshop.build(4, named: "a").merging([
        "pipeline.yml": "steps: [{id: a, run: make -f a.mk}, {id: b, run: ./cc b}]\n",
        "Makefile": "all: ; +@oprun pipeline.yml\n",
      ]) { $1 })
    defer { shop.remove() }
    #expect(try shop.run("exec '\(make)' -j3") == 0, "\(shop.output)")
    #expect(shop.peak == 3)
    #expect(!shop.output.contains("INTERNAL"), "\(shop.output)")
    #expect(!shop.output.contains("arning"), "\(shop.output)")
  }

  @Test(arguments: makes) func `gives the slots back when it is cancelled`(make: String) throws {
    let shop = try Workshop(
      waitingFor: 4,
      files: [
        "pipeline.yml": pipeline,
        "Makefile": """
        all: after
        run: ; +@echo $$$$ >pid; exec oprun pipeline.yml
        stop: ; @until [ -e started ] && [ $$(wc -l <started) = 3 ]; do sleep 0.02; done; kill $$(cat pid)
        after: run stop ; @touch after

        """,
      ])
    defer { shop.remove() }
    try shop.write("#!/bin/sh\necho >>started\nexec sleep 600\n", to: "cc", isProgram: true)
    #expect(try shop.run("exec '\(make)' -j4") == 2, "\(shop.output)")
    #expect(!shop.output.contains("INTERNAL"), "\(shop.output)")
    #expect(shop.output.contains("cancelled"), "\(shop.output)")
  }

  @Test(arguments: ["", "kill -TERM $$;", "kill -INT $$; kill -INT $$;"])
  func `gives back the very bytes that it took`(signals: String) throws {
    let shop = try Workshop(waitingFor: 0, files: ["pipeline.yml": pipeline])
    defer { shop.remove() }
    try shop.write(
      """
      #!/bin/sh
      echo $1 >>started
      until [ $(wc -l <started) -ge 4 ]; do sleep 0.02; done
      parent=$PPID
      \(signals.replacingOccurrences(of: "$$", with: "$parent"))
      sleep 0.1
      """, to: "cc", isProgram: true)
    let status = try shop.run(
      """
      mkfifo tokens
      exec 5<>tokens
      printf 'abc' >&5
      MAKEFLAGS="-j4 --jobserver-auth=fifo:$PWD/tokens" oprun pipeline.yml
      status=$?
      dd bs=100 count=1 iflag=nonblock <&5 2>/dev/null | fold -w 1 | sort | tr -d '\\n' >left
      exit $status
      """)
    #expect(status == (signals.isEmpty ? 0 : signals.contains("INT") ? 130 : 143), "\(shop.output)")
    #expect(shop.content(of: "left") == "abc")
  }

  @Test func `says that the slots are not available if its descriptors were closed`() throws {
    let shop = try Workshop(
      waitingFor: 0,
      files: [
        "pipeline.yml": "steps: [{id: a, run: \"echo x$MAKEFLAGS >flags; make -f b.mk\"}]\n",
        "Makefile": "all: ; @oprun pipeline.yml\n", "b.mk": "all: ; @touch b\n",
      ])
    defer { shop.remove() }
    #expect(try shop.run("exec make -j3") == 0, "\(shop.output)")
    #expect(
      shop.output.contains(
        "the job slots of the make that started oprun are not available: begin its recipe line with '+'\n"
      ),
      "\(shop.output)")
    #expect(shop.content(of: "flags") == "x\n", "a make in a step would warn of it again")
  }

  @Test func `does not use them when it has a width of its own`() throws {
    let shop = try Workshop(
      waitingFor: 5,
      files: [
        "pipeline.yml": pipeline, "Makefile": "all: ; +@oprun pipeline.yml -j5\n",
      ])
    defer { shop.remove() }
    #expect(try shop.run("exec make -j2") == 0, "\(shop.output)")
    #expect(shop.peak == 5)
    #expect(
      shop.output.contains(
        "the run does not share the job slots of the make that started oprun, because of --jobs\n"),
      "\(shop.output)")
  }

  @Test(arguments: [
    "--jobserver-auth=fifo:/nowhere/at/all", "--jobserver-auth=fifo:/etc/passwd",
    "--jobserver-auth=0,1", "--jobserver-auth=-2,-2", "--jobserver-auth=x", "--jobserver-auth=3,3",
    "--jobserver-fds=900,901",
  ]) func `goes on alone with whatever MAKEFLAGS says`(flags: String) throws {
    let shop = try Workshop(waitingFor: 0, files: ["pipeline.yml": pipeline])
    defer { shop.remove() }
    #expect(
      try shop.run(
        "exec 3</dev/null; exec env MAKEFLAGS='-j4 \(flags)' oprun pipeline.yml")
        == 0, "\(shop.output)")
    #expect(shop.output.contains("are not available"), "\(shop.output)")
  }
}
