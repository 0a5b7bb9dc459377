// Recognises files of other tools, by their name, their keys or their text.

import Diagnostics

/// The tool to which a file seems to belong.
package enum ForeignFile: Hashable, Sendable {
  case githubWorkflow, githubAction, gitlab, taskfile, make, just, dagu, compose
  case circleCI, azure, bitbucket, drone, buildkite, travis, jenkins, npm, kubernetes
  case python, shell, docker

  /// The words after "this looks like".
  var words: String {
    switch self {
    case .githubWorkflow: "a workflow of GitHub Actions"
    case .githubAction: "an action of GitHub"
    case .gitlab: "a file of GitLab CI"
    case .taskfile: "a Taskfile"
    case .make: "a makefile"
    case .just: "a justfile"
    case .dagu: "a file of Dagu"
    case .compose: "a file of Docker Compose"
    case .circleCI: "a file of CircleCI"
    case .azure: "a file of Azure Pipelines"
    case .bitbucket: "a file of Bitbucket Pipelines"
    case .drone: "a file of Drone"
    case .buildkite: "a file of Buildkite"
    case .travis: "a file of Travis CI"
    case .jenkins: "a Jenkinsfile"
    case .npm: "a package.json"
    case .kubernetes: "a manifest of Kubernetes"
    case .python: "a Python program"
    case .shell: "a script"
    case .docker: "a Dockerfile"
    }
  }

  /// The help that such a file needs.
  var help: String {
    switch self {
    case .make:
      "'oprun init' writes a pipeline that calls make; coming-from.md in the documentation translates more"
    case .githubWorkflow, .githubAction, .gitlab, .taskfile, .just, .dagu, .compose:
      "'oprun explain KEY' names the equivalent of a key; coming-from.md in the documentation lists all of them"
    case .python, .shell: "a step runs it, as in 'run: ./build.sh', in a file of its own"
    case .circleCI, .azure, .bitbucket, .drone, .buildkite, .travis, .jenkins, .npm, .kubernetes,
      .docker:
      "a pipeline file of oprun is a map with 'steps'; coming-from.md in the documentation translates other CI files"
    }
  }
}

extension ForeignFile {
  /// The help for one of its keys.
  var advice: String { "this looks like \(words): \(help)" }
}

// Recognition by the name of a file.
extension ForeignFile {
  /// Recognises a file by the last component of its path. Names that pipelines of oprun also have
  /// are ignored.
  init?(path: String) {
    let name = path.split(separator: "/").last.map { $0.lowercased() } ?? ""
    switch name {
    case "makefile", "gnumakefile": self = .make
    case "justfile", ".justfile": self = .just
    case "jenkinsfile": self = .jenkins
    case "dockerfile": self = .docker
    case "package.json": self = .npm
    case ".gitlab-ci.yml": self = .gitlab
    case "taskfile.yml", "taskfile.yaml": self = .taskfile
    default:
      if name.hasSuffix(".mk") {
        self = .make
      } else if name.hasSuffix(".just") {
        self = .just
      } else if name.hasSuffix(".py") {
        self = .python
      } else if name.hasSuffix(".sh") || name.hasSuffix(".bash") {
        self = .shell
      } else {
        return nil
      }
    }
  }
}

// Recognition by the keys of a file.
extension ForeignFile {
  /// Recognises a file without `steps` by its keys at top level; returns the decisive key, too.
  static func find(keys: [String]) -> (file: ForeignFile, key: String)? {
    let all = Set(keys)
    let signs: [([String], ForeignFile)] = [
      (["jobs", "workflows"], .circleCI), (["jobs", "orbs"], .circleCI),
      (["jobs", "pool"], .azure),
      (["jobs", "trigger"], .azure), (["jobs"], .githubWorkflow), (["runs"], .githubAction),
      (["tasks"], .taskfile), (["kind", "apiVersion"], .kubernetes), (["services"], .compose),
      (["language", "script"], .travis), (["pipelines", "image"], .bitbucket),
      (["pipelines", "definitions"], .bitbucket), (["stages", "pool"], .azure),
      (["stages", "trigger"], .azure), (["stages"], .gitlab), (["scripts", "name"], .npm),
    ]
    return signs.first { $0.0.allSatisfy(all.contains) }.map { ($0.1, $0.0[0]) }
  }

  /// The keys of a job or task at top level.
  static let jobKeys: [(key: String, file: ForeignFile)] = [
    ("script", .gitlab), ("cmds", .taskfile),
  ]
}

// Recognition by the text of a file.
extension ForeignFile {
  /// Recognises a file that is not YAML by its lines.
  init?(text: UnsafeBufferPointer<UInt8>) {
    let lines = String(decoding: text.prefix(1 << 16), as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false)
    guard let file = Self.kind(of: lines) else { return nil }
    self = file
  }

  private static func kind(of lines: [Substring]) -> ForeignFile? {
    if lines.contains(where: { $0.hasPrefix("steps:") }) { return nil }
    if lines.first?.hasPrefix("#!") ?? false { return .shell }
    let code = lines.lazy.filter { !$0.isEmpty && !$0.hasPrefix("#") }
    let first = code.first ?? ""
    if first.hasPrefix("pipeline {") || first.hasPrefix("node {") || first.hasPrefix("@Library") {
      return .jenkins
    }
    if first.hasPrefix("FROM ") { return .docker }
    if first.hasPrefix("import ") || first.hasPrefix("from ") && first.containsText(" import ") {
      return .python
    }
    if code.contains(where: isOfMake) { return .make }
    if code.contains(where: isOfJust) { return .just }
    guard zip(lines, lines.dropFirst()).contains(where: isRule) else { return nil }
    return code.contains { $0.containsText("{{") } ? .just : .make
  }

  private static func isOfMake(_ line: Substring) -> Bool {
    let words = line.split(separator: " ", maxSplits: 2)
    if line.hasPrefix(".PHONY") || line.hasPrefix("ifeq ") || line.hasPrefix("ifdef ") {
      return true
    }
    guard let first = words.first, !line.hasPrefix(" ") else { return false }
    return first.hasSuffix("?=") || words.count > 1 && ["?=", "+=", "::="].contains(words[1])
  }

  private static func isOfJust(_ line: Substring) -> Bool {
    let words = line.split(separator: " ", maxSplits: 3)
    guard words.count > 1, !line.hasPrefix(" ") else { return false }
    return words[1] == ":="
      || words.count > 2 && words[2] == ":=" && ["set", "alias", "export"].contains(words[0])
  }

  /// True if a line is a target of make followed by its recipe. A line of YAML with a leading tab has a key.
  private static func isRule(_ line: Substring, _ next: Substring) -> Bool {
    guard let first = line.unicodeScalars.first, !" \t#-".unicodeScalars.contains(first),
      line.contains(":"), next.hasPrefix("\t")
    else { return false }
    return !next.containsText(": ") && !next.hasSuffix(":") && !next.dropFirst().hasPrefix("- ")
  }
}
