// The programs that read code from their arguments or their input, and from where: the only table
// of them. It knows no language and no templates.

import Diagnostics

/// Where a program that runs code reads it from.
package struct Interpreter: Sendable {
  enum Operands {
    /// The operands are a file of code, and data.
    case data
    /// The first operand is code, unless an option gave the code; the letters and words are options
    /// whose argument is the next element.
    case first(letters: String, words: [String])
    /// All elements after the program are code.
    case all
  }

  /// The options with one dash whose argument, or next element, is code.
  package var letters = ""
  /// The options with two dashes whose argument, or next element, is code; abbreviations count.
  package var words: [String] = []
  /// The options with one dash whose argument is the rest of their element, if there is one: `-i.bak`.
  var suffixLetters = ""
  var operands = Operands.data
  /// True if everything after the option is also code.
  var optionIsWholeCommand = false
  /// True if the elements after `--` are for a shell, which has its own options.
  var passesOptionsOn = false
  /// True if, without other code, the program runs its standard input.
  var readsInput = true
  /// True for shells: options may follow `-c`, and `-o` takes an argument.
  var isShell = false
  /// The options with which a script stops at its first failing command; empty if there are none.
  package var strictOptions: [String] = []
  /// True if the program passes its code to a shell.
  var passesShellCode = false
  /// True for a shell in which bare words may be code where they are data to other shells: `let x = ls`.
  var hasOwnLanguage = false
  /// True if a pattern can have code in parentheses: `*(e:command:)`.
  var hasGlobQualifiers = false
  /// The options with which the program passes its input to a shell, if it does so only with these:
  /// the letters, and the words.
  var inputOptions: (letters: String, words: [String])?
  /// The option before a script in the arguments; nil for `-c`.
  var scriptOption: String?
  /// The option with one dash whose argument, also in the same element, is the name of a program to
  /// run: `-mtimeit`.
  var programLetter: Character?
  /// Code that runs the script in descriptor 3; nil if `/dev/fd/3` can be used as a file of code.
  var loader: String?

  /// True if the code is read by a shell.
  var readsShell: Bool { (isShell || passesShellCode) && !hasOwnLanguage }
  /// True if variables and arguments are written as for a shell.
  var isBourneLike: Bool { isShell && readsShell }
  /// True if the program starts another one, which may run the code.
  var isWrapper: Bool { passesShellCode || optionIsWholeCommand }
}

extension Interpreter {
  /// Finds a program by the last component of a path, without a version number; nil for any other
  /// program.
  package static func named(_ program: some StringProtocol) -> Interpreter? {
    guard program.utf8.count <= longestPath, let name = program.split(separator: "/").last else {
      return nil
    }
    if let known = table[String(name)] { return known }
    let base = String(name.prefix { !"0123456789".contains($0) })
    return base.utf8.count == name.utf8.count
      ? nil : table[base.hasSuffix("-") ? String(base.dropLast()) : base]
  }

  /// The part of an element of an argument vector that may name a program: in `--entrypoint=sh` or
  /// `SHELL=bash`, the text after the sign.
  static func programName(in element: String) -> String {
    guard named(element) == nil, let sign = element.lastIndex(of: "=") else { return element }
    return String(element[element.index(after: sign)...])
  }

  /// The longest path: PATH_MAX of Linux.
  private static let longestPath = 4096

  private static let table: [String: Interpreter] = {
    var table: [String: Interpreter] = [:]
    for (names, interpreter) in rows {
      for name in names.split(separator: " ") { table[String(name)] = interpreter }
    }
    return table
  }()

  private static func shell(
    strictOptions: [String], hasOwnLanguage: Bool = false, hasGlobQualifiers: Bool = false
  ) -> Interpreter {
    Interpreter(
      letters: "cC", words: ["command", "init-command", "commands"], isShell: true,
      strictOptions: strictOptions, hasOwnLanguage: hasOwnLanguage,
      hasGlobQualifiers: hasGlobQualifiers)
  }

  private static let rows: [(names: String, Interpreter)] = [
    (
      "bash rbash bash-static bash.exe",
      shell(strictOptions: ["-eo", "pipefail"])
    ),
    (
      "sh dash ash ksh rksh mksh lksh oksh loksh pdksh posh yash hush static-sh sh.distrib sh.exe",
      shell(strictOptions: ["-e"])
    ),
    ("zsh rzsh", shell(strictOptions: ["-e"], hasGlobQualifiers: true)),
    ("busybox toybox fish tcsh csh rc es elvish osh murex ion sash", shell(strictOptions: [])),
    ("nu xonsh ysh", shell(strictOptions: [], hasOwnLanguage: true)),
    ("cmd cmd.exe", Interpreter(operands: .all)),
    (
      "pwsh powershell pwsh.exe powershell.exe",
      Interpreter(letters: "cCeE", words: ["command"], operands: .all)
    ),
    (
      "python pythonw pypy graalpy ipython bpython micropython jython hy",
      Interpreter(letters: "c", programLetter: "m")
    ),
    ("timeit", Interpreter(operands: .all, readsInput: false)),
    ("perl", Interpreter(letters: "eEmMFd", scriptOption: "-e")),
    ("raku perl6", Interpreter(letters: "eM", scriptOption: "-e")),
    ("ruby jruby rbx irb", Interpreter(letters: "e", scriptOption: "-e")),
    (
      "node nodejs bun ts-node tsx qjs iojs coffee",
      Interpreter(
        letters: "ep", words: ["eval", "print", "import", "loader"], scriptOption: "-e",
        loader: #"(0, eval)(require("fs").readFileSync(3, "utf8"))"#)
    ),
    (
      "deno",
      Interpreter(
        letters: "ep", words: ["eval", "print", "import", "loader"], scriptOption: "eval")
    ),
    (
      "php phpdbg",
      Interpreter(
        letters: "rBRE", words: ["run", "process-begin", "process-code", "process-end"],
        scriptOption: "-r", loader: "eval(file_get_contents('php://fd/3'));")
    ),
    ("lua luajit luau texlua tarantool", Interpreter(letters: "e", scriptOption: "-e")),
    (
      "awk gawk mawk nawk goawk original-awk bwk",
      Interpreter(
        letters: "eW", words: ["source"],
        operands: .first(
          letters: "vFfilE",
          words: ["assign", "field-separator", "file", "include", "load", "exec"]),
        readsInput: false)
    ),
    (
      "sed gsed ssed",
      Interpreter(
        letters: "e", words: ["expression"], suffixLetters: "i",
        operands: .first(letters: "fl", words: ["file", "line-length"]), readsInput: false)
    ),
    ("ed ex vi vim nvim view rvim gvim", Interpreter(letters: "c+", words: ["cmd"])),
    ("emacs emacsclient", Interpreter(letters: "e", words: ["eval", "execute"])),
    (
      "Rscript R r octave julia groovy scala kotlin jshell swift crystal ghci runghc runhaskell ghc "
        + "elixir iex csi gsi utop swipl quickjs matlab erl racket scheme sbcl ecl clisp clojure clj bb janet ocaml nim gnuplot dc bc gdb "
        + "tclsh wish m4 cling",
      Interpreter(
        letters: "eE",
        words: ["eval", "print", "expression", "execute", "expr", "ex", "eval-command"],
        scriptOption: "-e")
    ),
    ("guile expect gjs", Interpreter(letters: "ce")),
    ("osascript", Interpreter(letters: "ce", scriptOption: "-e")),
    ("lldb", Interpreter(letters: "oO", words: ["one-line", "one-line-before-file"])),
    ("make gmake", Interpreter(letters: "E", words: ["eval"])),
    ("psql", Interpreter(letters: "c", words: ["command"])),
    (
      "mysql mariadb mongo mongosh clickhouse-client redis-cli",
      Interpreter(letters: "eq", words: ["execute", "init-command", "eval", "query"])
    ),
    ("sqlite sqlite3 duckdb", Interpreter(operands: .all)),
    // The arguments of these programs are passed to a shell.
    (
      "ssh slogin rsh autossh mosh dbclient plink pdsh pssh clush",
      Interpreter(operands: .all, passesShellCode: true)
    ),
    (
      "watch tmux screen hyperfine",
      Interpreter(operands: .all, readsInput: false, passesShellCode: true)
    ),
    ("parallel sg", Interpreter(operands: .all, passesShellCode: true)),
    (
      "su runuser capsh",
      Interpreter(
        letters: "c", words: ["command", "session-command"], passesOptionsOn: true,
        passesShellCode: true)
    ),
    ("split", Interpreter(words: ["filter"], readsInput: false, passesShellCode: true)),
    ("script", Interpreter(letters: "c", words: ["command"], passesShellCode: true)),
    (
      "flock",
      Interpreter(letters: "c", words: ["command"], readsInput: false, passesShellCode: true)
    ),
    (
      "entr xterm npx",
      Interpreter(letters: "sec", words: ["call"], readsInput: false, passesShellCode: true)
    ),
    (
      "npm pnpm yarn",
      Interpreter(letters: "c", words: ["call"], readsInput: false, passesShellCode: true)
    ),
    (
      "git",
      Interpreter(
        letters: "x",
        words: [
          "exec", "extcmd", "upload-pack", "receive-pack", "env-filter", "tree-filter",
          "index-filter", "parent-filter", "msg-filter", "commit-filter", "tag-name-filter",
        ], readsInput: false, passesShellCode: true)
    ),
    // The command of `git submodule`.
    ("foreach", Interpreter(operands: .all, readsInput: false, passesShellCode: true)),
    ("nix-shell", Interpreter(letters: "Ep", words: ["run", "command", "expr"])),
    (
      "env",
      Interpreter(
        letters: "S", words: ["split-string"], optionIsWholeCommand: true, readsInput: false)
    ),
    // These programs read commands only from their input.
    (
      "sudo doas",
      Interpreter(
        readsInput: false, passesShellCode: true,
        inputOptions: (letters: "si", words: ["--shell", "--login"]))
    ),
    // A line of the input may be a command for a shell.
    ("sftp ftp", Interpreter(passesShellCode: true)),
    ("lftp", Interpreter(letters: "ce", passesShellCode: true)),
    (
      "at batch crontab newgrp chroot unshare nsenter machinectl",
      Interpreter(passesShellCode: true)
    ),
  ]

  /// The interpreter for a program that is named by a value: it may be any of them.
  package static let any = Interpreter(
    letters: "ceErp", words: ["eval", "command", "print", "execute", "expression", "source", "run"])
}
