// What MAKEFLAGS says about jobs, and what is written into it.

import TestSupport
import Testing

@testable import Execution

@Suite(.blocking) struct `MAKEFLAGS` {
  @Test(
    arguments: [
      ("", nil, nil),
      ("-j4 --jobserver-auth=3,4", JobserverAddress.pipe(read: 3, write: 4), 4),
      (" -j4 --jobserver-auth=3,4", .pipe(read: 3, write: 4), 4),
      ("kw -j --jobserver-fds=5,6 -- A=--jobserver-auth=fifo:/x", .pipe(read: 5, write: 6), nil),
      ("-j8 --jobserver-auth=fifo:/tmp/GMfifo1", .fifo("/tmp/GMfifo1"), 8),
      ("--jobs=3 --jobserver-auth=3,4 --jobserver-auth=fifo:/p", .fifo("/p"), 3),
      // Make says so to a recipe that may not use its pipe.
      ("-j4 --jobserver-auth=3,4 --jobserver-auth=-2,-2", nil, 4),
      ("-j4 --jobserver-auth=0,1", nil, 4),
      ("-j4 --jobserver-auth=3", nil, 4), ("-j4 --jobserver-auth=3,4,5", nil, 4),
      ("-j4 --jobserver-auth=", nil, 4), ("-j4 --jobserver-auth=99999999999,4", nil, 4),
      (#"-- A=b\ --jobserver-auth=3,4"#, nil, nil),
    ] as [(String, JobserverAddress?, Int?)])
  func `names a jobserver and a number of jobs`(
    text: String, jobserver: JobserverAddress?, jobs: Int?
  ) {
    let flags = MakeFlags(text)
    #expect(flags.jobserver == jobserver)
    #expect(flags.jobs == jobs)
  }

  @Test(arguments: [
    ("", ""), ("k", "k"), ("-j4", ""), ("-j --jobserver-auth=3,4 -s", "-s"),
    (
      "kw -j4 --jobserver-auth=3,4 --jobserver-auth=fifo:/p --jobserver-aut=3,4 -- V=1 -j9",
      "kw -- V=1 -j9"
    ),
    (#"--jobs --jobs=3 --jobserver-style=fifo -I\ x --  A=b\ c"#, #"-I\ x -- A=b\ c"#),
    ("-journal", "-journal"),
  ])
  func `without jobs keeps everything else`(text: String, rest: String) {
    #expect(MakeFlags(text).withoutJobs == rest)
    #expect(!MakeFlags(MakeFlags(text).withoutJobs).namesJobserver)
  }

  @Test func `gets a jobserver in front of the variables, in a form for every tool`() {
    let flags = MakeFlags("k -j9 --jobserver-auth=-2,-2 -- V=1")
    #expect(
      flags.sharing(4, read: 100, write: 101, path: "/run/jobserver")
        == "k -j4 --jobserver-auth=100,101 --jobserver-auth=fifo:/run/jobserver "
        + "--jobserver-aut=100,101 -- V=1")
    #expect(
      MakeFlags("").sharing(nil, read: 10, write: 11, path: nil) == "--jobserver-auth=10,11")
  }

  @Test(arguments: [
    ("/home/a-b/c_d/.oprun/runs/x@1:2+3~/jobserver", true), ("/with space/jobserver", false),
    ("/dollar$/x", false), (#"/back\slash"#, false), ("/naïve", false), ("/quote'", false),
  ])
  func `can hold a path of plain characters only`(path: String, isPlain: Bool) {
    #expect(MakeFlags.canHold(path) == isPlain)
  }
}
