// Passes a script to a program: each program has its own option for that, and with another option
// it may only check the script.

import Diagnostics

extension Interpreter {
  /// The whole argument vector, if the script can be one argument.
  package static func arguments(_ shell: [String], script: String) -> [String] {
    let option = running(shell)?.scriptOption ?? "-c"
    return shell.last == option ? shell + [script] : shell + [option, script]
  }

  /// The argument vector that runs a script from descriptor 3.
  package static func argumentsForDescriptor3(_ shell: [String]) -> [String] {
    if let loader = running(shell)?.loader { return arguments(shell, script: loader) }
    var words = shell
    if let option = running(shell)?.scriptOption, words.last == option { words.removeLast() }
    return words + ["/dev/fd/3"]
  }

  /// The program that runs the script: perl in `[env, LANG=C, perl, -w]`, and in `[perl, -I, script]`.
  static func running(_ shell: [String]) -> Interpreter? {
    if let first = shell.first.flatMap({ named($0) }), !first.isWrapper { return first }
    let programs = shell.lazy.reversed().compactMap { named($0) }
    return programs.first { !$0.isWrapper } ?? programs.first
  }

  /// True if only a shell can be the program that reads the script: no other program is named, and
  /// only options follow the shell. An operand would be a file of code, which may pass the script
  /// on to any program.
  static func areShells(_ shell: [String]) -> Bool {
    let programs = shell.lazy.compactMap { named($0) }
    guard programs.allSatisfy({ $0.isWrapper || $0.readsShell }) else { return false }
    guard let start = shell.firstIndex(where: isShell) else { return true }
    return hasOnlyOptions(shell[(start + 1)...])
  }

  private static func isShell(_ word: String) -> Bool { named(word)?.isShell == true }

  /// True if these words are options of a shell, with the argument of `-o`, or the shell that is an
  /// applet of busybox.
  private static func hasOnlyOptions(_ words: ArraySlice<String>) -> Bool {
    var isArgument = false
    for word in words {
      if isArgument {
        isArgument = false
        continue
      }
      if isShell(word) { continue }
      guard word.hasPrefix("-") || word.hasPrefix("+"), word.utf8.count > 1, word != "--" else {
        return false
      }
      isArgument = !word.hasPrefix("--") && (word.hasSuffix("o") || word.hasSuffix("O"))
    }
    return true
  }
}
