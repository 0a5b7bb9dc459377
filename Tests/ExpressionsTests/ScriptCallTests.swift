// How scripts are passed to programs.

import Testing

@testable import Expressions

struct `A script for` {
  @Test(arguments: [
    (["/bin/sh", "-e"], "-c"), (["python3"], "-c"), (["unknown"], "-c"), (["perl"], "-e"),
    (["/usr/bin/perl5.36"], "-e"), (["perl", "-w"], "-e"), (["env", "LANG=C", "perl"], "-e"),
    (["docker", "run", "node", "sh"], "-c"), (["bash", "--rcfile", "node"], "-c"),
    (["ruby"], "-e"), (["node"], "-e"), (["nodejs"], "-e"), (["php"], "-r"), (["php8.2"], "-r"),
    (["raku"], "-e"), (["lua5.4"], "-e"), (["Rscript"], "-e"), (["julia"], "-e"),
    (["deno"], "eval"), (["gjs"], "-c"), (["pwsh"], "-c"),
  ])
  func `a program stands behind its own option`(_ shell: [String], _ option: String) {
    #expect(Interpreter.arguments(shell, script: "x y") == shell + [option, "x y"])
    #expect(Interpreter.arguments(shell + [option], script: "x") == shell + [option, "x"])
  }

  @Test(arguments: [
    ["/bin/sh"], ["/bin/sh", "-e"], ["bash", "-euo", "pipefail"], ["bash", "-e", "-O", "extglob"],
    ["bash", "+x", "--norc", "-c"], ["busybox", "sh", "-e"], ["env", "A=1", "bash", "-e"],
    ["sudo", "-u", "x", "sh"], ["docker", "exec", "c", "sh", "-e"], ["./in-container", "sh"],
    ["docker", "run", "bash", "bash", "-e"], ["ssh", "host"],
  ])
  func `a shell that has only options reads the script itself`(_ shell: [String]) {
    #expect(ScriptReader(shell: shell).isShell)
  }

  /// A wrapper may pass the script to any program, as `exec perl -e "$2"` does.
  @Test(arguments: [
    ["bash", "wrapper.sh"], ["/bin/sh", "wrapper.sh"], ["/bin/sh", "-e", "wrapper.sh"],
    ["sh", "-c", "exec perl -e \"$2\"", "_"], ["bash", "-eo", "pipefail", "wrapper.sh"],
    ["bash", "--", "wrapper.sh"], ["bash", "--"], ["bash", "-"], ["busybox", "sh", "x"],
    ["env", "bash", "wrapper.sh"], ["env", "bash", "wrapper.sh", "sh"], ["bash", "-o", "o", "x"],
    ["docker", "run", "node", "sh"], ["perl"], ["unknown"], ["nu"],
  ])
  func `an operand of a shell may pass the script on to any program`(_ shell: [String]) {
    #expect(!ScriptReader(shell: shell).isShell)
  }

  @Test func `descriptor 3 is a file, or read by code where a file would not be code`() {
    let words = Interpreter.argumentsForDescriptor3
    #expect(words(["/bin/sh", "-e"]) == ["/bin/sh", "-e", "/dev/fd/3"])
    #expect(words(["perl", "-w", "-e"]) == ["perl", "-w", "/dev/fd/3"])
    #expect(words(["php"]) == ["php", "-r", "eval(file_get_contents('php://fd/3'));"])
    #expect(
      words(["node"]) == ["node", "-e", #"(0, eval)(require("fs").readFileSync(3, "utf8"))"#])
  }
}
