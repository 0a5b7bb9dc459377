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

  @Test func `descriptor 3 is a file, or read by code where a file would not be code`() {
    let words = Interpreter.argumentsForDescriptor3
    #expect(words(["/bin/sh", "-e"]) == ["/bin/sh", "-e", "/dev/fd/3"])
    #expect(words(["perl", "-w", "-e"]) == ["perl", "-w", "/dev/fd/3"])
    #expect(words(["php"]) == ["php", "-r", "eval(file_get_contents('php://fd/3'));"])
    #expect(
      words(["node"]) == ["node", "-e", #"(0, eval)(require("fs").readFileSync(3, "utf8"))"#])
  }
}
