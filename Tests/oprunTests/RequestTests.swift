import Reporting
import Testing

@testable import oprun

private let noFile =
  "no 'oprun.yml' or 'pipeline.yml' here or in a directory above; 'oprun init' writes a first one; name another file, as in 'oprun ci/build.yml' [run]"

@Suite struct `Command lines` {
  private func request(
    _ line: String, _ environment: [String: String] = [:], files: Set<String> = ["a.yml"],
    usual: String? = nil
  ) throws(UsageFailure) -> Request {
    try Request(
      line.split(separator: " ").map(String.init), environment: { environment[$0] },
      search: PipelineSearch(
        fileExists: { files.contains($0) }, usualFile: { () -> String? in usual }))
  }

  private func invocation(
    _ line: String, _ environment: [String: String] = [:]
  ) throws -> Invocation {
    guard case .perform(let invocation) = try request(line, environment) else {
      throw UsageFailure("no command in '\(line)'")
    }
    return invocation
  }

  /// The message, the help and the hint, as they are printed.
  private func mistake(
    _ line: String, _ environment: [String: String] = [:], files: Set<String> = ["a.yml"],
    usual: String? = nil
  ) -> String {
    do {
      let request = try request(line, environment, files: files, usual: usual)
      return "no mistake in: \(request)"
    } catch {
      let help = error.help.map { "; \($0)" } ?? ""
      return error.message + help + (error.command.map { " [\($0)]" } ?? "")
    }
  }

  @Test(arguments: ["a.yml", "run a.yml"])
  func `a file alone is run`(line: String) throws {
    let invocation = try invocation(line)
    #expect(invocation.command.name == "run")
    #expect(invocation.operands == ["a.yml"])
    #expect(invocation.count(Options.jobs) == nil)
    #expect(!invocation.isOn(Options.dryRun))
  }

  @Test(arguments: [
    "-j4 a.yml", "-j 4 a.yml", "--jobs 4 a.yml", "--jobs=4 a.yml", "a.yml -j4", "-nvj4 a.yml",
    "-nvj 4 a.yml", "-j9 a.yml -j 4", "run a.yml --jobs 4", "-j=4 a.yml",
  ])
  func `values can be written in every usual way`(line: String) throws {
    #expect(try invocation(line).count(Options.jobs) == 4)
  }

  @Test func `letters can be bundled`() throws {
    let invocation = try invocation("-nv a.yml unit")
    #expect(invocation.isOn(Options.dryRun))
    #expect(invocation.isOn(Options.verbose))
    #expect(invocation.operands == ["a.yml", "unit"])
  }

  @Test func `after two dashes there are no options`() throws {
    let run = try invocation("run -n a.yml unit -- -v --jobs")
    #expect(run.operands == ["a.yml", "unit"])
    #expect(run.arguments == ["-v", "--jobs"])
    #expect(try invocation("show -- last -v").operands == ["last", "-v"])
    #expect(try invocation("submit a.yml -- -N 2").arguments == [])
  }

  @Test func `a path that begins with a dash is written so that it is no option`() {
    #expect(["-a.yml", "-", "a.yml"].map(operandWord) == ["./-a.yml", "-", "a.yml"])
  }

  @Test func `a dash is standard input`() throws {
    #expect(try invocation("-").operands == ["-"])
    #expect(try invocation("run -n - unit").operands == ["-", "unit"])
  }

  @Test(arguments: [
    ("250ms", 250), ("30s", 30_000), ("1h30m", 5_400_000), ("2m5s", 125_000), ("0s", 0),
    ("1s250ms", 1250),
  ])
  func `times have units`(text: String, milliseconds: Int64) throws {
    let invocation = try invocation("--timeout \(text) a.yml")
    #expect(invocation.duration(Options.timeout) == milliseconds * 1_000_000)
  }

  @Test(arguments: ["30", "s", "1m2h", "1s1s", "-3s", "1.5s", "9999999999999h", "3x", "1 s"])
  func `what is no time is refused`(text: String) {
    #expect(
      mistake("--timeout=\(text) a.yml").hasPrefix(
        "'--timeout' wants a duration such as 250ms, 30s or 1h30m, found '"))
  }

  @Test func `the environment counts where no flag does`() throws {
    let environment = [
      "OPRUN_JOBS": "3", "OPRUN_STRICT": "1", "OPRUN_ASCII": "0", "OPRUN_DRY_RUN": "",
      "OPRUN_OUTPUT_MODE": "quiet", "OPRUN_OUTPUT": "/somewhere/unit.1.outputs",
    ]
    let invocation = try invocation("a.yml", environment)
    #expect(invocation.count(Options.jobs) == 3)
    #expect(invocation.isOn(Options.strict))
    #expect(!invocation.isOn(Options.ascii))
    #expect(!invocation.isOn(Options.dryRun))
    #expect(invocation.choice(Options.output, default: OutputMode.grouped) == .quiet)
    #expect(try self.invocation("-j 8 a.yml", environment).count(Options.jobs) == 8)
  }

  @Test func `a wrong variable is named, unless a flag makes it moot`() throws {
    #expect(
      mistake("a.yml", ["OPRUN_JOBS": "many"])
        == "'OPRUN_JOBS' wants a whole number of at least 1, found 'many'; leave it out for the usual number [run]"
    )
    #expect(
      mistake("a.yml", ["OPRUN_STRICT": "maybe"])
        == "'OPRUN_STRICT' wants 1 or 0, found 'maybe' [run]")
    #expect(try invocation("-j2 a.yml", ["OPRUN_JOBS": "many"]).count(Options.jobs) == 2)
  }

  @Test func `parameters may be many, and all count`() throws {
    let line = "--param a=1 a.yml --param=b=x=y --param c= --param a=2"
    let given = try invocation(line, ["OPRUN_PARAM_<NAME>": "a=9"]).assignments(Options.param)
    #expect(given.map { "\($0.name): \($0.value)" } == ["a: 1", "b: x=y", "c: ", "a: 2"])
    #expect(try invocation("a.yml").assignments(Options.param).isEmpty)
  }

  @Test(arguments: [
    ("", noFile), ("run", noFile), ("-n", noFile),
    (
      "run build",
      "'build' is neither a file nor a step in an 'oprun.yml' or 'pipeline.yml' here or in a directory above [run]"
    ),
    ("--jbos 4 a.yml", "unknown option '--jbos'; did you mean '--jobs'? [run]"),
    ("--watch a.yml", "unknown option '--watch'; did you mean 'oprun watch'? [run]"),
    ("--quiet a.yml", "unknown option '--quiet'; did you mean '--output quiet'? [run]"),
    ("--no-color a.yml", "unknown option '--no-color'; did you mean '--color never'? [run]"),
    ("--parallel 2 a.yml", "unknown option '--parallel'; did you mean '--jobs N'? [run]"),
    ("--var a=1 a.yml", "unknown option '--var'; did you mean '--param NAME=VALUE'? [run]"),
    (
      "-k a.yml",
      "unknown option '-k'; a run continues after a failure; '--fail-fast' ends it [run]"
    ),
    ("-V", "unknown option '-V'; did you mean '--version'? [run]"),
    (
      "-f a.yml", "unknown option '-f'; the pipeline file is the first argument: oprun FILE [run]"
    ),
    (
      "validate --json a.yml",
      "unknown option '--json'; did you mean '--format json'? [validate]"
    ),
    ("--json a.yml", "unknown option '--json'; did you mean '--output json'? [run]"),
    ("--versoin", "unknown option '--versoin'; did you mean '--version'? [run]"),
    ("-x a.yml", "unknown option '-x' [run]"),
    ("-nx a.yml", "unknown option '-x' [run]"),
    ("a.yml --jobs", "'--jobs' needs a value: a whole number of at least 1 [run]"),
    ("a.yml -j", "'--jobs' needs a value: a whole number of at least 1 [run]"),
    (
      "-j-1 a.yml",
      "'--jobs' wants a whole number of at least 1, found '-1'; leave it out for the usual number [run]"
    ),
    (
      "-j=0 a.yml",
      "'--jobs' wants a whole number of at least 1, found '0'; leave it out for the usual number [run]"
    ),
    (
      "-j= a.yml",
      "'--jobs' wants a whole number of at least 1, found '='; leave it out for the usual number [run]"
    ),
    (
      "--dry-run=1 a.yml",
      "'--dry-run' takes no value, found '1'; write '--dry-run' alone, or leave it out [run]"
    ),
    (
      "a.yml --resume=k3",
      "'--resume' takes no value, found 'k3'; did you mean 'oprun resume k3'? [run]"
    ),
    (
      "--timeout 30 a.yml",
      "'--timeout' wants a duration such as 250ms, 30s or 1h30m, found '30'; did you mean '30s'? [run]"
    ),
    (
      "--timeout 5min a.yml",
      "'--timeout' wants a duration such as 250ms, 30s or 1h30m, found '5min'; did you mean '5m'? [run]"
    ),
    (
      "--timeout soon a.yml",
      "'--timeout' wants a duration such as 250ms, 30s or 1h30m, found 'soon' [run]"
    ),
    (
      "--output gruoped a.yml",
      "'--output' wants live, grouped, prefixed, quiet or json, found 'gruoped'; did you mean 'grouped'? [run]"
    ),
    ("--state-dir= a.yml", "'--state-dir' wants a directory, found '' [run]"),
    (
      "--param width a.yml",
      "'--param' wants a name and a value, as in name=value, found 'width'; write '--param width=VALUE' [run]"
    ),
    ("--param =3 a.yml", "'--param' wants a name and a value, as in name=value, found '=3' [run]"),
    ("a.yml --param", "'--param' needs a value: a name and a value, as in name=value [run]"),
    ("--parm a=b a.yml", "unknown option '--parm'; did you mean '--param'? [run]"),
    (
      "validate --param a=b a.yml",
      "unknown option '--param'; it is an option of 'oprun run', 'oprun resume', 'oprun watch' and 5 more [validate]"
    ),
    (
      "graph -j3 a.yml",
      "unknown option '-j'; it is an option of 'oprun run', 'oprun resume', 'oprun watch', 'oprun submit', 'oprun analyze' and 'oprun trace' [graph]"
    ),
    (
      "list --dry-run a.yml",
      "unknown option '--dry-run'; it is an option of 'oprun run', 'oprun resume', 'oprun submit', 'oprun prune' and 'oprun init' "
        + "[list]"
    ),
    ("--dry a.yml", "unknown option '--dry'; did you mean '--dry-run'? [run]"),
    ("-dry-run a.yml", "unknown option '-dry-run'; did you mean '--dry-run'? [run]"),
    ("-jobs=3 a.yml", "unknown option '-jobs=3'; did you mean '--jobs=3'? [run]"),
    ("-j --strict a.yml", "'--jobs' needs a value: a whole number of at least 1 [run]"),
    ("-j -n a.yml", "'--jobs' needs a value: a whole number of at least 1 [run]"),
    ("-j -- a.yml", "'--jobs' needs a value: a whole number of at least 1 [run]"),
    (
      "-j -3 a.yml",
      "'--jobs' wants a whole number of at least 1, found '-3'; leave it out for the usual number [run]"
    ),
    (
      "--junit --trace=x a.yml",
      "'--junit' needs a value: a file; if '--trace=x' is the value, write '--junit=--trace=x' [run]"
    ),
    ("list a.yml b.yml", "'oprun list' takes no more than FILE, found 'b.yml' [list]"),
    (
      "graph --format dto a.yml",
      "'--format' wants tree, dot, mermaid or json, found 'dto'; did you mean 'dot'? [graph]"
    ),
    (
      "--affected --resume a.yml",
      "'--affected' and '--resume' cannot be given together; leave one of them out [run]"
    ),
    ("--affected= a.yml", "'--affected' wants a commit, found '' [run]"),
    ("status a b", "'oprun status' takes no more than RUN, found 'b' [status]"),
    ("watch --on-busy stop a.yml", "'--on-busy' wants cancel or wait, found 'stop' [watch]"),
    ("history a.yml", "'oprun history' takes no arguments, found 'a.yml' [history]"),
    (
      "resume --from a --only b",
      "'--from' and '--only' cannot be given together; leave one of them out [resume]"
    ),
    ("prune --keep few", "'--keep' wants a whole number of at least 0, found 'few' [prune]"),
    ("help rnu", "unknown command 'rnu'; did you mean 'oprun help run'?"),
    (
      "rnu a.yml",
      "unknown command 'rnu'; did you mean 'oprun run'?"
    ),
    (
      "xyzzy",
      "unknown command 'xyzzy', and no step either: there is no 'oprun.yml' or 'pipeline.yml' here or in a directory above"
    ),
  ])
  func `mistakes are told with what would be right`(line: String, message: String) {
    #expect(mistake(line) == message)
  }

  @Test(arguments: [
    ("--affected a.yml", "HEAD"), ("a.yml --affected", "HEAD"), ("--affected=main a.yml", "main"),
    ("a.yml", "none"),
  ])
  func `an option may do without its value`(line: String, value: String) throws {
    let invocation = try invocation(line, ["OPRUN_AFFECTED": ""])
    #expect(invocation.text(Options.affected) ?? "none" == value)
    #expect(invocation.operands == ["a.yml"])
    #expect(try self.invocation("a.yml", ["OPRUN_AFFECTED": "v1"]).text(Options.affected) == "v1")
  }

  @Test(arguments: [
    ("", "run: oprun.yml"), ("-n", "run: oprun.yml"), ("build", "run: oprun.yml build"),
    ("run build test", "run: oprun.yml build test"), ("run list", "run: oprun.yml list"),
    ("list", "list: oprun.yml"), ("graph build", "graph: oprun.yml build"),
    ("validate", "validate: oprun.yml"), ("a.yml build", "run: a.yml build"),
    // A step may have the name of a file without an extension.
    ("Makefile", "run: oprun.yml Makefile"), ("./Makefile build", "run: ./Makefile build"),
    ("ns:build v1.2", "run: oprun.yml ns:build v1.2"), ("- build", "run: - build"),
    // A step in a group has a name with a slash.
    ("test/unit", "run: oprun.yml test/unit"), ("run test/unit b", "run: oprun.yml test/unit b"),
    ("ci/build", "run: ci/build"), ("ci/none.yml", "run: ci/none.yml"),
    ("./ci/none", "run: ./ci/none"), ("/ci/none", "run: /ci/none"),
  ])
  func `without a file the usual one is meant`(line: String, meaning: String) throws {
    for usual in ["oprun.yml", "../../oprun.yml"] {
      let request = try request(line, files: ["a.yml", "Makefile", "ci/build"], usual: usual)
      guard case .perform(let invocation) = request else {
        Issue.record("not performed: \(request)")
        return
      }
      let operands = invocation.operands.joined(separator: " ")
      #expect("\(invocation.command.name): \(operands)" == meaning)
      #expect(
        invocation.directory == (invocation.isFileFound && usual.hasPrefix(".") ? "../.." : nil))
    }
  }

  @Test func `a file wins over a command that is only close`() throws {
    let request = try request("rnu", files: ["rnu"])
    guard case .perform(let invocation) = request else {
      Issue.record("not performed: \(request)")
      return
    }
    #expect(invocation.operands == ["rnu"])
  }

  @Test(arguments: [
    ("--version", "version"), ("--version --verbose", "verbose version"), ("--help", "help"),
    ("-h", "help"), ("help", "help"),
    ("help graph", "help graph"), ("graph --help", "help graph"), ("graph -h x y z", "help graph"),
    ("run -nh", "help run"), ("-n --help", "help run"), ("help --help", "help"),
    ("a.yml -h", "help run of a.yml"), ("run -n a.yml --help x", "help run of a.yml"),
    ("graph a.yml -h", "help graph of a.yml"), ("validate a.yml -h", "help validate"),
    ("run b.yml -h", "help run"), ("run - -h", "help run"),
  ])
  func `help and version`(line: String, meaning: String) throws {
    let found =
      switch try request(line) {
      case .version(let isVerbose): isVerbose ? "verbose version" : "version"
      case .help(nil, _): "help"
      case .help(let command?, nil): "help \(command.name)"
      case .help(let command?, let invocation?):
        "help \(command.name) of \(invocation.operands[0])"
      case .perform: "perform"
      case .complete: "complete"
      }
    #expect(found == meaning)
  }

  @Test func `what has no effect without another flag is refused`() {
    #expect(
      mistake("a.yml --exit-code")
        == "'--exit-code' has no effect without '--dry-run'; add '--dry-run' [run]")
    #expect(mistake("--exit-code a.yml", ["OPRUN_DRY_RUN": "1"]).hasPrefix("no mistake"))
    #expect(mistake("a.yml", ["OPRUN_DRY_RUN_EXIT_CODE": "1"]).hasPrefix("no mistake"))
    #expect(mistake("-v a.yml").hasPrefix("no mistake"))
  }

  @Test func `several mistakes are told at once`() {
    do {
      _ = try request("-j x a.yml --wrong-thing --strict=1", ["OPRUN_COLOR": "blue"])
      Issue.record("no mistake")
    } catch {
      #expect(
        ([error] + error.others).map(\.message) == [
          "'--jobs' wants a whole number of at least 1, found 'x'",
          "unknown option '--wrong-thing'",
          "'--strict' takes no value, found '1'",
          "'OPRUN_COLOR' wants auto, always or never, found 'blue'",
        ])
    }
  }

  @Test(arguments: [
    ("a.yml --who x", "unknown option '--who'; set a parameter with --param who=x [run]"),
    ("a.yml --who=x", "unknown option '--who'; set a parameter with --param who=x [run]"),
    ("a.yml --who", "unknown option '--who'; set a parameter with --param who=VALUE [run]"),
    ("--who a.yml", "unknown option '--who'; set a parameter with --param who=VALUE [run]"),
    ("a.yml who=x", "'who=x' is not a step; set a parameter with --param who=x [run]"),
    ("list a.yml who=", "'who=' is not a step; set a parameter with --param who= [list]"),
    ("validate --who a.yml", "unknown option '--who' [validate]"),
    (
      "a.yml --format x",
      "unknown option '--format'; it is an option of 'oprun report', 'oprun graph' and 'oprun validate' [run]"
    ),
  ])
  func `a parameter without its option gets the way it is given`(line: String, words: String) {
    #expect(mistake(line) == words)
  }

  @Test func `an instance is no assignment`() {
    #expect(mistake("a.yml test[os=linux]").hasPrefix("no mistake"))
  }
}
