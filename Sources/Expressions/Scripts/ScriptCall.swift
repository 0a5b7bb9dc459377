// How a script is passed to a program: each program has its own option for that, and with another
// one it may only check the script.

extension Interpreter {
  /// The whole argument vector, if the script can be one argument.
  package static func arguments(_ shell: [String], script: String) -> [String] {
    let option = running(shell)?.scriptOption ?? "-c"
    return shell.last == option ? shell + [script] : shell + [option, script]
  }

  /// The argument vector that runs a script which descriptor 3 holds.
  package static func argumentsForDescriptor3(_ shell: [String]) -> [String] {
    if let loader = running(shell)?.loader { return arguments(shell, script: loader) }
    var words = shell
    if let option = running(shell)?.scriptOption, words.last == option { words.removeLast() }
    return words + ["/dev/fd/3"]
  }

  /// The program that runs the script: in `[env, LANG=C, perl, -w]` it is perl, in `[perl, -I, script]` too.
  static func running(_ shell: [String]) -> Interpreter? {
    if let first = shell.first.flatMap({ named($0) }), !first.isWrapper { return first }
    let programs = shell.lazy.reversed().compactMap { named($0) }
    return programs.first { !$0.isWrapper } ?? programs.first
  }

  /// Whether no other word than those of a shell could be the program that runs the script.
  static func areShells(_ shell: [String]) -> Bool {
    if let first = shell.first.flatMap({ named($0) }), first.isShell { return true }
    return shell.lazy.compactMap { named($0) }.allSatisfy { $0.isWrapper || $0.readsShell }
  }
}
