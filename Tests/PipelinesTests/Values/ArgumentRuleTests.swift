// The rule in whole pipelines: elements of lists, standard input, hooks and probes. A value is
// inserted exactly where the table says, or planning fails.

import Foundation
import Pipelines
import Plans
import Testing

/// Commands as JSON in which `@` stands for the value; the element that holds it is code.
private let scriptLists = [
  #"["bash", "-c", "p @"]"#, #"["sh", "-ec", "p \"@\""]"#, #"["/bin/bash", "-lc", "x=@"]"#,
  #"["bash", "-Eeuo", "pipefail", "-c", "p @"]"#, #"["bash", "-c", "-e", "p @"]"#,
  #"["bash", "-ceo", "pipefail", "p @"]"#, #"["bash", "-ec", "--", "p @"]"#,
  #"["zsh", "-c", "p @"]"#, #"["dash", "-c", "p @"]"#, #"["ash", "-c", "p @"]"#,
  #"["ksh93", "-c", "p @"]"#, #"["mksh", "-c", "p @"]"#, #"["fish", "-c", "p @"]"#,
  #"["fish", "--command=p @"]"#, #"["busybox", "sh", "-c", "p @"]"#,
  #"["env", "A=1", "timeout", "5", "sh", "-c", "p @"]"#, #"["env", "-S", "p @"]"#,
  #"["sudo", "-u", "x", "bash", "-lc", "p @"]"#, #"["nice", "-n", "5", "sh", "-c", "p @"]"#,
  #"["xargs", "-I{}", "sh", "-c", "p @"]"#, #"["docker", "exec", "c", "sh", "-c", "p @"]"#,
  #"["find", ".", "-exec", "sh", "-c", "p @", ";"]"#, #"["sudo", "--", "sh", "-c", "p @"]"#,
  #"["python3", "-c", "p('@')"]"#, #"["/usr/bin/python3.11", "-Wic", "p('@')"]"#,
  #"["python3", "-cp('@')"]"#, #"["perl", "-ne", "p @"]"#, #"["perl", "-ep(@)"]"#,
  #"["perl", "-Mx=@", "f"]"#, #"["perl", "-e", "1", "-e", "p @"]"#, #"["ruby", "-ne", "p @"]"#,
  #"["node", "--eval=p(@)"]"#, #"["node", "--eval", "p(@)"]"#, #"["node", "-pe", "p(@)"]"#,
  #"["node", "--print", "@"]"#, #"["deno", "eval", "p(@)"]"#, #"["php", "-r", "p(@);"]"#,
  #"["lua5.4", "-e", "p(@)"]"#, #"["awk", "{ print @ }", "f"]"#,
  #"["awk", "-F", ":", "-v", "x=1", "{ print @ }"]"#, #"["awk", "-F:", "{ print @ }"]"#,
  #"["awk", "--assign", "x=1", "{ print @ }"]"#, #"["awk", "--", "{ print @ }"]"#,
  #"["gawk", "--source", "{ print @ }"]"#, #"["gawk", "-e", "{ print @ }"]"#,
  #"["sed", "s/a/@/"]"#, #"["sed", "-n", "-E", "s/a/@/"]"#, #"["sed", "-e", "s/a/@/"]"#,
  #"["sed", "--expression=s/a/@/"]"#, #"["sed", "--expr=s/a/@/"]"#,
  #"["sed", "-i", "s/@/b/", "f"]"#, #"["sed", "-i.before", "s/@/b/", "f"]"#,
  #"["sed", "-ni.al", "s/@/b/", "f"]"#, #"["sed", "-ibe", "-n", "s/@/b/", "f"]"#,
  #"["sed", "-l", "5", "s/@/b/"]"#, #"["pwsh", "-Command", "p @"]"#,
  #"["pwsh", "-NoProfile", "-c", "p @"]"#,
  #"["ssh", "host", "rm", "@"]"#, #"["ssh", "@", "uptime"]"#, #"["ssh", "-o", "X=@", "host"]"#,
  #"["su", "-c", "p @"]"#, #"["su", "x", "-c", "p @"]"#, #"["runuser", "-l", "x", "-c", "p @"]"#,
  #"["flock", "/f", "-c", "p @"]"#, #"["script", "-qec", "p @", "/dev/null"]"#,
  #"["watch", "ls", "@"]"#, #"["parallel", "p @", ":::", "a"]"#, #"["psql", "-c", "select '@'"]"#,
  #"["mysql", "-e", "select '@'"]"#, #"["sqlite3", "f.db", "select '@'"]"#,
  #"["make", "--eval=x=@"]"#, #"["bash", "-c", "p @", "x", "y"]"#,
  #"["${{ params.program }}", "-c", "p @"]"#, #"["${{ params.program }}", "--eval=@"]"#,
  #"["perl", "-F,", "-lane", "p @", "f"]"#, #"["perl", "-M5.010", "-le", "p @"]"#,
  #"["env", "-S", "bash -c", "p @"]"#, #"["find", ".", "-exec", "env", "-S", "sh -c", "p @", ";"]"#,
  #"["su", "root", "--", "-c", "p @"]"#, #"["runuser", "root", "--", "-c", "p @"]"#,
  #"["capsh", "--", "-c", "p @"]"#, #"["awk", "-W", "interactive", "{ print @ }"]"#,
  #"["python3", "-m", "timeit", "-n", "1", "p(@)"]"#, #"["split", "--filter=p @", "f"]"#,
  #"["bash-static", "-c", "p @"]"#, #"["perl", "-I", "script", "-e", "p @"]"#,
  #"["perl", "-I", "ssh", "-e", "p @"]"#,
  #"["docker", "run", "--entrypoint=sh", "i", "-c", "p @"]"#,
  #"["env", "A=1", "ssh", "host", "p @"]"#, #"["nu", "-c", "p '@'"]"#,
  #"["python3", "-mtimeit", "p(@)"]"#, #"["python3", "-Bmtimeit", "-n", "1", "p(@)"]"#,
  #"["npm", "exec", "-c", "p @"]"#, #"["npm", "exec", "--call=p @"]"#,
  #"["pnpm", "exec", "-c", "p @"]"#, #"["yarn", "exec", "-c", "p @"]"#,
  #"["git", "submodule", "foreach", "--recursive", "p @"]"#,
  #"["git", "-C", "x", "submodule", "foreach", "p", "@"]"#,
  #"["git", "rebase", "--exec", "p @", "main"]"#, #"["git", "rebase", "-x", "p @", "main"]"#,
  #"["git", "filter-branch", "--tree-filter", "p @", "HEAD"]"#,
  #"["git", "filter-branch", "--msg-filter=p @"]"#,
]

/// The element is data.
private let dataLists = [
  #"["bash", "-c", "p \"$1\"", "--", "@"]"#, #"["bash", "-c", "p \"$1\"", "x", "@"]"#,
  #"["git", "log", "--", "@"]"#, #"["cat", "@"]"#, #"["cat", "a", "@b", "c"]"#,
  #"["p", "--name=@"]"#,
  #"["p", "-e", "@"]"#, #"["p", "-c", "@"]"#, #"["grep", "-e", "@", "f"]"#,
  #"["awk", "-v", "x=@", "{ print x }"]"#, #"["awk", "--assign=x=@", "{ print x }"]"#,
  #"["awk", "{ print }", "@"]"#, #"["awk", "-f", "x.awk", "@"]"#, #"["sed", "-f", "x.sed", "@"]"#,
  #"["sed", "-nf", "x.sed", "@"]"#, #"["deno", "@"]"#,
  #"["sed", "-e", "p", "@"]"#, #"["sed", "p", "./@"]"#, #"["perl", "x.pl", "@"]"#,
  #"["python3", "x.py", "--name", "@"]"#, #"["python3", "x.py", "--name=@"]"#,
  #"["bash", "x.sh", "@"]"#, #"["node", "x.js", "--", "-e", "@"]"#, #"["env", "X=@", "p"]"#,
  #"["git", "commit", "-m", "@"]"#, #"["git", "log", "--format=@"]"#, #"["git", "add", "./@"]"#,
  #"["npm", "publish", "--tag", "@"]"#, #"["python3", "-mpytest", "-k", "@"]"#,
  #"["python3", "-m", "pytest", "@"]"#,
  #"["timeout", "5", "p", "@"]"#, #"["p", "@", "@"]"#, #"["p", "", "@"]"#, #"["@"]"#,
]

private let scriptInputs = [
  #"["sh"]"#, #"["/usr/bin/env", "bash", "-s"]"#, #""bash""#, #""cat | sh""#,
  #""sudo -u x bash -s""#,
  #""exec 'python3' -""#, #""/usr/bin/perl5.36""#, #"["ssh", "host"]"#, #""node >x""#,
  #"["awk", "-f", "-"]"#, #"["awk", "-f", "/dev/stdin"]"#, #"["env", "-S", "bash -s"]"#,
  #"". /dev/stdin""#, #""eval \"$(cat)\"""#,
  #"["psql", "db"]"#, #""at now""#, #"["docker", "run", "-i", "x", "sh"]"#,
  #"["docker", "run", "-i", "--entrypoint=sh", "x"]"#, #"["sudo", "-s"]"#, #""sudo -iu x""#,
  #""sftp -b - host""#, #"["sudo", "--login"]"#,
]
private let dataInputs = [
  #"["cat"]"#, #""cat""#, #""tee x.sh | wc -l""#, #"["sed", "-n", "p"]"#, #""sort >x && gzip x""#,
  #"["tee", "sh.txt"]"#, #"["sudo", "-u", "x", "tee", "f"]"#,
]

/// Whether the code is for a shell, not for another interpreter.
private func isForShell(_ command: String) -> Bool {
  let others = [
    "python", "perl", "ruby", "node", "deno", "php", "lua", "awk", "sed", "psql", "mysql", "sqlite",
    "make", "pwsh", "\"nu\"", "params.program", "\"-S\", \"p", "\"-S\", \"bash -c",
    "\"-S\", \"sh -c",
  ]
  return !others.contains(where: command.contains)
}

private let parameters = "params: {v: '', program: p}\n"

private func options(_ value: String) -> PlanningOptions {
  var options = PlanningOptions()
  options.parameters = [ParameterArgument(name: "v", value: value)]
  return options
}

/// The only step's command, its input and its first hook; nil if there is no plan, and why there is none.
private func planned(
  _ text: String, _ value: String
) throws -> (step: PlannedStep?, errors: String) {
  let file = parameters + text.replacing("@", with: "${{ params.v }}")
  switch planned(Array(file.utf8), options(value)) {
  case .plan(let plan): return (plan.steps[0], "")
  case .errors(let text): return (nil, text)
  case .noSelection(let text), .badParameters(let text):
    Issue.record("\(text)")
    return (nil, text)
  }
}

/// The elements of a JSON list of texts.
private func elements(_ list: String) throws -> [String] {
  try JSONDecoder().decode([String].self, from: Data(list.utf8))
}

struct ArgumentRuleTests {
  static let values = hostileValues + plainHostileValues

  /// A fourth of the values, others for each text. `ScriptRuleTests` tries all of them.
  static func values(for text: String) -> [String] {
    values.enumerated().filter { ($0.offset + text.utf8.count).isMultiple(of: 4) }.map(\.element)
  }

  @Test(arguments: scriptLists)
  func `an element that is code takes values as a script does`(list: String) throws {
    let plain = list.replacing("${{ params.program }}", with: "p")
    let words = try elements(plain)
    let place = try #require(words.firstIndex { $0.contains("@") })
    for value in Self.values(for: list) {
      let found = try planned("steps: [{id: a, run: \(list)}]", value)
      guard let code = insertedByTheManual(value, at: words[place], isShell: isForShell(list))
      else {
        #expect(found.step == nil && !found.errors.isEmpty, "\(list) with \(value)")
        continue
      }
      var expected = words
      expected[place] = code
      #expect(found.step?.work == .known(.arguments(expected)), "\(list) with \(value)")
    }
  }

  @Test(arguments: dataLists)
  func `any other element takes any value, but no option`(list: String) throws {
    let words = try elements(list)
    let first = try #require(words.firstIndex { $0.contains("@") })
    let isOption =
      words.indices.contains { words[$0].hasPrefix("@") && !words[..<$0].contains("--") }
    for value in Self.values(for: list) {
      let found = try planned("steps: [{id: a, run: \(list)}]", value)
      if value.contains("\0") || isOption && value.hasPrefix("-") {
        #expect(found.step == nil && !found.errors.isEmpty, "\(list) with \(value)")
        continue
      }
      // As the name of a program, it may make the other elements code, but there are none.
      let expected = words.map { $0.replacing("@", with: value) }
      #expect(found.step?.work == .known(.arguments(expected)), "\(list) with \(value), \(first)")
    }
  }

  @Test(arguments: scriptLists + dataLists)
  func `a list stands for words, each of which takes what a word takes`(list: String) throws {
    let spliced = list.replacing("\"@\"", with: "\"${{ [params.v] }}\"")
    if spliced == list { return }
    for value in Self.values(for: list) {
      let word = try planned("steps: [{id: a, run: \(list)}]", value)
      let item = try planned("steps: [{id: a, run: \(spliced)}]", value)
      #expect(item.step?.work == word.step?.work, "\(list) with \(value)")
      #expect(item.errors.isEmpty == word.errors.isEmpty)
    }
  }

  @Test(arguments: scriptLists)
  func `arguments of the command line are code nowhere`(list: String) throws {
    let spliced = list.replacing("\"@\"", with: "\"${{ params.rest }}\"")
    if spliced == list { return }
    for value in Self.values(for: list) {
      let word = try planned("steps: [{id: a, run: \(list)}]", value)
      var options = PlanningOptions()
      options.rest = [value]
      let text =
        "params: {rest: {type: list, rest: true}, program: p}\nsteps: [{id: a, run: \(spliced)}]"
      let rest: PlannedStep? =
        if case .plan(let plan) = planned(Array(text.utf8), options) { plan.steps[0] } else { nil }
      #expect(rest?.work == word.step?.work, "\(list) with \(value)")
    }
  }

  @Test(arguments: scriptInputs)
  func `input of an interpreter takes values as a script does`(command: String) throws {
    for value in Self.values(for: command) {
      let found = try planned(
        "steps: [{id: a, run: \(command), stdin: \"p x @\\n\"}]", value)
      let expected = insertedByTheManual(
        value, at: "p x @\n", isShell: isForShell(command))
      #expect(found.step?.settings.standardInput == expected, "\(command) with \(value)")
      #expect((found.step == nil) == (expected == nil))
    }
  }

  @Test(arguments: dataInputs)
  func `other input takes any value`(command: String) throws {
    for value in Self.values {
      let found = try planned("steps: [{id: a, run: \(command), stdin: \"p @\"}]", value)
      #expect(found.step?.settings.standardInput == "p \(value)", "\(command) with \(value)")
    }
  }

  @Test func `input that a hook or a probe reads as code is a script`() throws {
    for more in [
      "on_success: sh", "on_complete: [bash]", "wait_for: [{command: sh}]",
      "wait_for: [{command: [bash, -s]}]",
    ] {
      let refused = try planned(
        "steps: [{id: a, run: cat, stdin: \"@\", \(more)}]", "a b")
      #expect(refused.errors.contains("cannot be inserted in a script"), "\(more)")
    }
    let kept = try planned("steps: [{id: a, run: cat, stdin: \"@\", on_success: cat}]", "a b")
    #expect(kept.step?.settings.standardInput == "a b")
    let defaults = try planned(
      "defaults: {stdin: \"@\"}\nsteps: [{id: a, run: sh}]", "a b")
    #expect(defaults.errors.contains("cannot be inserted in a script"))
  }

  @Test func `hooks and probes take values as scripts do`() throws {
    for value in Self.values {
      let expected = insertedByTheManual(value, at: "p @")
      for (text, isInHook) in [
        ("steps: [{id: a, run: x, on_success: 'p @'}]", true),
        ("steps: [{id: a, run: x, on_success: [{run: 'p @'}]}]", true),
        ("steps: [{id: a, run: x, wait_for: [{command: 'p @'}]}]", false),
        ("steps: [{id: a, run: 'p @', shell: perl}]", false),
        ("defaults: {on_success: 'p @'}\nsteps: [{id: a, run: x}]", true),
      ] {
        let found = try planned(text, value)
        let expected =
          text.contains("perl") ? insertedByTheManual(value, at: "p @", isShell: false) : expected
        #expect((found.step == nil) == (expected == nil), "\(text) with \(value)")
        if isInHook, let expected, let step = found.step {
          #expect(step.settings.hooks.onSuccess == [.known(.script(ScriptText(expected)))])
        }
      }
      let list = try planned(
        "steps: [{id: a, run: x, on_success: [sh, -c, 'p @'], on_failure: [p, 'x@']}]", value)
      #expect((list.step == nil) == (expected == nil || value.contains("\0")))
    }
  }
}
