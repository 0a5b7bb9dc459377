// The kinds of projects, and how they are recognised.

import Diagnostics
import Expressions

/// One way in which a project can be built, and the steps for it.
struct ProjectKind {
  /// The kind in words for people: `a Swift package`.
  let name: String
  /// The word before the ids of its steps in a project of several kinds.
  let prefix: String
  let steps: [StarterStep]

  /// Returns the text of a file of the project; nil if there is none.
  typealias Reader = (String) -> String?

  /// All kinds to which a project belongs.
  static func all(_ read: Reader) -> [ProjectKind] {
    [
      swiftPackage, cargo, goModule, nodePackage, python, cmake, meson, maven, gradle, ruby,
      makefile,
      dockerfile,
    ].compactMap { $0(read) }
  }

  private static func swiftPackage(_ read: Reader) -> ProjectKind? {
    guard read("Package.swift") != nil else { return nil }
    return ProjectKind(
      name: "a Swift package", prefix: "swift",
      steps: [
        StarterStep("build", "swift build"),
        StarterStep("test", "swift test", after: "build"),
      ])
  }

  private static func cargo(_ read: Reader) -> ProjectKind? {
    guard read("Cargo.toml") != nil else { return nil }
    return ProjectKind(
      name: "a Cargo package", prefix: "cargo",
      steps: [
        StarterStep("format", "cargo fmt --check"),
        StarterStep("build", "cargo build"),
        StarterStep("test", "cargo test", after: "build"),
      ])
  }

  private static func goModule(_ read: Reader) -> ProjectKind? {
    guard read("go.mod") != nil else { return nil }
    return ProjectKind(
      name: "a Go module", prefix: "go",
      steps: [
        StarterStep("vet", "go vet ./..."),
        StarterStep("build", "go build ./..."),
        StarterStep("test", "go test ./...", after: "build"),
      ])
  }

  /// The usual scripts of package.json, with the tool whose lock file exists.
  private static func nodePackage(_ read: Reader) -> ProjectKind? {
    guard let text = read("package.json") else { return nil }
    let tools = [
      ("pnpm-lock.yaml", "pnpm", "pnpm install --frozen-lockfile"),
      ("yarn.lock", "yarn", "yarn install --immutable"),
      ("package-lock.json", "npm", "npm ci"),
    ]
    let (_, tool, install) =
      tools.first { read($0.0) != nil } ?? ("", "npm", "npm install")
    var scripts: [String] = []
    if case .map(let members)? = try? JSONReader.value(of: text),
      case .map(let found)? = members["scripts"]
    {
      scripts = found.names
    }
    let wanted = ["lint", "typecheck", "build", "test"].filter(scripts.contains)
    return ProjectKind(
      name: "a Node.js package", prefix: "node",
      steps: [StarterStep("install", install)]
        + wanted.map { StarterStep($0, "\(tool) run \($0)", after: "install") })
  }

  private static func python(_ read: Reader) -> ProjectKind? {
    guard
      let file = ["pyproject.toml", "setup.py", "requirements.txt"].first(where: { read($0) != nil }
      )
    else { return nil }
    let install = file == "requirements.txt" ? "-r requirements.txt" : "-e ."
    let python = ".venv/bin/python"
    return ProjectKind(
      name: "a Python project", prefix: "python",
      steps: [
        StarterStep(
          "install", "python3 -m venv .venv && \(python) -m pip install pytest \(install)"),
        StarterStep("test", "\(python) -m pytest", after: "install"),
      ])
  }

  private static func cmake(_ read: Reader) -> ProjectKind? {
    guard read("CMakeLists.txt") != nil else { return nil }
    return ProjectKind(
      name: "a CMake project", prefix: "cmake",
      steps: [
        StarterStep("configure", "cmake -B build"),
        StarterStep("build", "cmake --build build --parallel", after: "configure"),
        StarterStep("test", "ctest --test-dir build --output-on-failure", after: "build"),
      ])
  }

  private static func meson(_ read: Reader) -> ProjectKind? {
    guard read("meson.build") != nil else { return nil }
    return ProjectKind(
      name: "a Meson project", prefix: "meson",
      steps: [
        StarterStep("configure", "meson setup --reconfigure build"),
        StarterStep("build", "meson compile -C build", after: "configure"),
        StarterStep("test", "meson test -C build", after: "build"),
      ])
  }

  private static func maven(_ read: Reader) -> ProjectKind? {
    guard read("pom.xml") != nil else { return nil }
    let tool = read("mvnw") == nil ? "mvn" : "./mvnw"
    return ProjectKind(
      name: "a Maven project", prefix: "maven",
      steps: [StarterStep("build", "\(tool) --batch-mode verify")])
  }

  private static func gradle(_ read: Reader) -> ProjectKind? {
    guard ["build.gradle", "build.gradle.kts"].contains(where: { read($0) != nil }) else {
      return nil
    }
    let tool = read("gradlew") == nil ? "gradle" : "./gradlew"
    return ProjectKind(
      name: "a Gradle project", prefix: "gradle", steps: [StarterStep("build", "\(tool) build")])
  }

  private static func ruby(_ read: Reader) -> ProjectKind? {
    guard read("Gemfile") != nil else { return nil }
    return ProjectKind(
      name: "a Ruby project", prefix: "ruby",
      steps: [
        StarterStep("install", "bundle install"),
        StarterStep("test", "bundle exec rake", after: "install"),
      ])
  }

  /// The usual targets of a makefile; without one of them, the first target.
  private static func makefile(_ read: Reader) -> ProjectKind? {
    guard let text = ["GNUmakefile", "makefile", "Makefile"].lazy.compactMap(read).first else {
      return nil
    }
    let targets = MakeTargets.names(in: text)
    let build = ["build", "all"].first(where: targets.contains)
    var steps = build.map { [StarterStep("build", "make \($0)")] } ?? []
    for name in ["lint", "check", "test"] where targets.contains(name) {
      steps.append(StarterStep(name, "make \(name)", after: name == "lint" ? nil : steps.first?.id))
    }
    return ProjectKind(
      name: "a makefile", prefix: "make",
      steps: steps.isEmpty ? [StarterStep("build", "make")] : steps)
  }

  private static func dockerfile(_ read: Reader) -> ProjectKind? {
    guard read("Dockerfile") != nil else { return nil }
    return ProjectKind(
      name: "a Dockerfile", prefix: "docker",
      steps: [StarterStep("image", "docker build .", isManual: true)])
  }
}

/// Finds the targets of a makefile.
enum MakeTargets {
  /// The names before a colon at the beginning of a line, unless it assigns something; no patterns,
  /// no special targets.
  static func names(in text: String) -> [String] {
    text.split(whereSeparator: \.isNewline).flatMap { line -> [String] in
      guard let colon = line.firstIndex(of: ":"), line.first?.isWhitespace == false,
        line.first != "#", !line[..<colon].contains("=")
      else { return [] }
      if line[colon...].drop(while: { $0 == ":" }).hasPrefix("=") { return [] }
      return line[..<colon].split(separator: " ").map(String.init).filter {
        !$0.hasPrefix(".") && !$0.contains("%") && !$0.contains("$")
      }
    }
  }
}
