// What in the words of a shell says that a script was written for another one.

import TestSupport
import Testing

@testable import Execution

@Suite(.blocking) struct ShellAdviceTests {
  @Test(arguments: [
    "sh: 1: [[: not found", "/bin/sh: 12: source: not found",
    "/bin/sh: 2: set: Illegal option -o pipefail", "/bin/sh: 1: Bad substitution",
    "sh: 1: Syntax error: \"(\" unexpected", "sh: 3: Syntax error: redirection unexpected",
  ])
  func `a script for bash is known by what sh does not know`(line: String) {
    #expect(
      ShellAdvice.words(about: line)
        == "this script was run by sh; 'shell: bash' runs it with bash")
  }

  @Test func `braces of other tools are a command for sh`() {
    #expect(
      ShellAdvice.words(about: "/bin/sh: 1: params.x: not found")
        == "an expression is written ${{ params.x }}")
  }

  @Test(arguments: [
    "/bin/sh: 1: make: not found", "/bin/sh: 1: [[: not found here", "sh: [[: not found",
    "sh: x: [[: not found", "bash: line 1: [[: not found", "./x.sh: 1: x.y: not found", "sh: 1: ",
    "/bin/sh: 1: Syntax error: end of file unexpected", "[[: not found",
    "sh: 1: my.tool: not found",
  ])
  func `other words say nothing`(line: String) {
    #expect(ShellAdvice.words(about: line) == nil)
  }

  /// Programs such as make run scripts with a shell of their own, of which `shell: bash` changes nothing.
  @Test func `only what is in the script itself is advised about`() {
    let line = "/bin/sh: 1: Syntax error: \"(\" unexpected"
    #expect(ShellAdvice.words(about: line, of: "make -j$(nproc)") == nil)
    #expect(ShellAdvice.words(about: line, of: "a=(1 2)") != nil)
    #expect(ShellAdvice.words(about: "/bin/sh: 1: env.sh: not found", of: "make") == nil)
    #expect(
      ShellAdvice.words(about: "/bin/sh: 1: Bad substitution", of: "make \"${X:-sub}\"") == nil)
  }
}
