// Which file could not be run, as shells and other commands say it.

import Testing

@testable import Reporting

struct RefusedProgramTests {
  @Test(arguments: [
    ("/bin/sh: 1: ./build: Permission denied", "./build"),
    ("/bin/bash: line 3: tools/my build: Permission denied", "tools/my build"),
    ("env: './build': Permission denied", "./build"),
    ("timeout: failed to run command ‘./build’: Permission denied", "./build"),
    ("xargs: ./build: Permission denied", "./build"),
    ("/bin/sh: 1: build: Permission denied", nil),
    ("/bin/sh: 1: ./build: Is a directory", nil),
    (": Permission denied", nil),
    ("'': Permission denied", nil),
    ("': Permission denied", nil),
  ])
  func `is the one before the complaint`(line: String, file: String?) {
    #expect(refusedProgram(in: line) == file)
  }
}
