// Completions in the real shells: what a line has become after the tabulator key is what the shell
// would run.

import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct `Completions` {
  /// Keys, and the words that the shell runs after them.
  static let lines: [(keys: String, words: [String])] = [
    ("val\tpi\t", ["validate", "pipes.yml"]),
    ("run --col\talw\t", ["run", "--color", "always"]),
    ("run --output=gr\t", ["run", "--output=grouped"]),
    ("run pipes.yml --param na\twor\t", ["run", "pipes.yml", "--param", "name=world"]),
    ("run pipes.yml --param=name=wor\t", ["run", "pipes.yml", "--param=name=world"]),
    ("pipes.yml bu\t", ["pipes.yml", "build"]),
    ("pipes.yml test\\[os=l\t", ["pipes.yml", "test[os=linux]"]),
    ("pipes.yml pack:d\t", ["pipes.yml", "pack:deb"]),
    ("run --events some\tev\t", ["run", "--events", "some folder/events"]),
    ("show 2\tdep\t", ["show", "RUN", "deploy"]),
    ("help his\t", ["help", "history"]),
  ]

  @Test(arguments: ["bash", "zsh"]) func `are what the shell runs`(shell: String) throws {
    let trial = try CompletionFolder()
    for line in Self.lines {
      let words = try trial.words(after: line.keys, in: shell)
      #expect(words == line.words)
    }
  }

  @Test func `are offered by fish with their descriptions`() throws {
    let trial = try CompletionFolder()
    let offered = try trial.shell(
      "fish --no-config -c 'oprun completions fish | source; complete -C \"oprun run --fail\"; "
        + "complete -C \"oprun run --output=gr\"; complete -C \"oprun pipes.yml pack:\"; "
        + "complete -C \"oprun show last d\"'")
    #expect(
      offered == """
        --fail-fast\tafter a failure, cancel running steps (--failure-policy cancel)
        --failure-policy\tafter a failure, continue, start no step, or cancel running ones too
        --output=grouped
        pack:deb\tPackage for Debian
        deploy\tsucceeded

        """)
  }

  @Test func `are none where nothing can be read`() throws {
    let trial = try CompletionFolder()
    #expect(try trial.shell("oprun __complete broken.yml '' 2>&1 >/dev/null | head -n 1") != "")
    #expect(try trial.shell("oprun __complete broken.yml '' 2>/dev/null") == "")
    #expect(try trial.shell("oprun __complete none.yml '' 2>/dev/null") == "")
  }

  @Test func `never hold a control character`() throws {
    let trial = try CompletionFolder()
    try Data().write(to: trial.folder.appending(path: "a\u{1b}[31mred.yml"))
    #expect(try trial.shell("oprun __complete validate a") == "")
  }
}

/// A folder with a pipeline, a recorded run of it, and a program `oprun` that writes down the words
/// it is given.
private final class CompletionFolder {
  let folder: URL
  private let run: String

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "completions-\(UUID())")
    let programs = folder.appending(path: "bin")
    try FileManager.default.createDirectory(at: programs, withIntermediateDirectories: true)
    try FileManager.default.createDirectory(
      at: folder.appending(path: "some folder"), withIntermediateDirectories: true)
    try Data().write(to: folder.appending(path: "some folder/events"))
    try Data("PS1='ready> '; source <(oprun completions bash)\n".utf8)
      .write(to: folder.appending(path: "bashrc"))
    try Data(
      "PS1='ready> '; autoload -U compinit; compinit -D -u; source <(oprun completions zsh)\n".utf8
    ).write(to: folder.appending(path: ".zshrc"))
    try Data("steps: [".utf8).write(to: folder.appending(path: "broken.yml"))
    try Data(Self.pipeline.utf8).write(to: folder.appending(path: "pipes.yml"))
    try Data(
      """
      #!/bin/sh
      case $1 in
      __complete | completions) exec \(builtProgram("oprun")) "$@" ;;
      esac
      printf '%s\\n' "$@" >words.new
      mv words.new words
      """.utf8
    ).write(to: programs.appending(path: "oprun"))
    chmod(programs.appending(path: "oprun").path, 0o755)
    let child = try Child(
      script: "cd '\(folder.path)' && \(builtProgram("oprun")) --output quiet pipes.yml >out 2>&1")
    try #require(child.wait() == 0)
    let runs = try FileManager.default.contentsOfDirectory(
      atPath: folder.appending(path: ".oprun/runs").path)
    run = try #require(runs.first { !$0.hasPrefix(".") })
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private static let pipeline = """
    params:
      name: {enum: [world, moon], default: moon, description: whom to greet}
    steps:
      - {id: build, run: "true"}
      - id: test
        matrix: {os: [linux, bsd]}
        run: "true"
      - {id: "pack:deb", name: Package for Debian, run: "true"}
      - {id: deploy, run: "true"}
    """

  /// Runs a script in the folder; returns what it printed.
  func shell(_ script: String) throws -> String {
    let child = try Child(script: "\(surroundings) && { \(script); } >printed")
    _ = child.wait()
    return try String(contentsOf: folder.appending(path: "printed"), encoding: .utf8)
  }

  private var surroundings: String {
    let path = folder.path
    return "cd '\(path)' && export PATH='\(path)/bin':\"$PATH\" HOME='\(path)' TERM=vt100"
  }

  /// The words of the command that a shell runs after some keys; the name of the run is `RUN`.
  func words(after keys: String, in shell: String) throws -> [String] {
    let terminal = try PseudoTerminal(columns: 200)
    let words = folder.appending(path: "words")
    try? FileManager.default.removeItem(at: words)
    let program =
      shell == "bash"
      ? "bash --noprofile --rcfile bashrc -i" : "env ZDOTDIR=. zsh -o no_global_rcs -i"
    let child = try Child(
      script:
        "\(surroundings) && exec setsid -c -w \(program) <\(terminal.path) >\(terminal.path) 2>&1")
    try wait { terminal.shown().contains("ready> ") }
    terminal.type("oprun " + keys + "\n")
    try wait { FileManager.default.fileExists(atPath: words.path) }
    let found = try String(contentsOf: words, encoding: .utf8)
    terminal.type("exit\n")
    _ = child.wait()
    return found.split(separator: "\n").map { $0 == run ? "RUN" : String($0) }
  }

  /// Waits until something holds, for at most ten minutes.
  private func wait(_ condition: () -> Bool) throws {
    let end = ContinuousClock.now + .seconds(600)
    while !condition() {
      try #require(ContinuousClock.now < end)
      usleep(10_000)
    }
  }
}
