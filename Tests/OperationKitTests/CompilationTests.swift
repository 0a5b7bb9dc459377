// Whole files, compiled with the module that this test was built with, and also with Foundation:
// the page about migration, and what the compiler reports about data races.

import Foundation
import TestSupport
import Testing

/// Swift's compiler, told to check files only.
private struct Compiler {
  var mode = "6"
  var features: [String] = []

  /// Its errors and warnings, as `file:line: error`; empty if there are none.
  func complaints(about files: [String: String]) throws -> [String] {
    let folder = URL(filePath: NSTemporaryDirectory()).appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for (name, text) in files {
      try text.write(to: folder.appending(path: name), atomically: false, encoding: .utf8)
    }
    let names = files.keys.sorted()
    let build = try buildFolder()
    let modules = ["Modules", "CLinux.build"].flatMap { ["-I", build.appending(path: $0).path] }
    // With a cache of its own, each check would first compile the modules of the C library anew.
    let cache = build.appending(path: "ModulesOfTests").path
    let output = try run(
      ["-typecheck", "-parse-as-library", "-swift-version", mode, "-module-cache-path", cache]
        + ["-diagnostic-style", "llvm"] + modules
        + features.flatMap { ["-enable-upcoming-feature", $0] } + names, in: folder)
    return output.split(separator: "\n").compactMap { line in
      let parts = line.split(separator: ":", maxSplits: 4).map(String.init)
      guard parts.count == 5, parts[3] == " error" || parts[3] == " warning" else {
        return line.contains(": error:") ? String(line) : nil
      }
      return "\(URL(filePath: parts[0]).lastPathComponent):\(parts[1]):\(parts[3])"
    }
  }

  private func run(_ arguments: [String], in folder: URL) throws -> String {
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["swiftc"] + arguments
    process.currentDirectoryURL = folder
    process.standardError = pipe
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: output, as: UTF8.self)
  }

  /// The directory of the build that this test is part of.
  private func buildFolder() throws -> URL {
    var folder = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    while folder.path != "/" {
      folder.deleteLastPathComponent()
      let module = folder.appending(path: "Modules/OperationKit.swiftmodule")
      if FileManager.default.fileExists(atPath: module.path) { return folder }
    }
    throw CocoaError(.fileNoSuchFile)
  }
}

/// The directory of the package.
private let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
  .deletingLastPathComponent()

/// What a program for Foundation may look like: it uses every name that the page gives.
private let program = """
  final class Download: Operation, @unchecked Sendable {
    private let lock = NSLock()
    private var isDone = false
    override var isAsynchronous: Bool { true }
    override var isFinished: Bool { lock.withLock { isDone } }
    override func start() {
      willChangeValue(for: \\.isFinished)
      lock.withLock { isDone = true }
      didChangeValue(for: \\.isFinished)
    }
  }

  final class Counting: OperationQueue, @unchecked Sendable {
    override var progress: Progress { super.progress }
    override func addOperation(_ block: @escaping @Sendable () -> Void) {
      super.addOperation(block)
    }
  }

  func work(on file: Data) {
    let level: QualityOfService = .userInitiated
    let download = Download()
    download.qualityOfService = level
    let resize = BlockOperation { print(file.count, Thread.isMainThread) }
    resize.addDependency(download)
    resize.queuePriority = .high
    let queue = Counting()
    queue.qualityOfService = .utility
    queue.progress.totalUnitCount = 2
    queue.addOperation(download)
    queue.addOperation(resize)
    queue.addOperation { print(file.count) }
    print(queue.progress.fractionCompleted, OperationQueue.main === OperationQueue.current)
  }
  """

/// A file of a module whose subclasses are public.
private let publicSubclass = """
  open class Download: Operation, @unchecked Sendable {
    public let file = Data()
    open override func main() {}
    public static func after(_ other: Operation) -> Download { Download() }
  }
  """

/// Another one, whose interface has a type that is nested in a class.
private let publicExtension = """
  extension Download {
    public func isFine(at level: Operation.QueuePriority) -> Bool { level == .low }
  }
  """

@Suite(.blocking) struct MigrationTests {
  /// The page's block of that name.
  private func block(_ name: String) throws -> String {
    let page = root.appending(path: "Sources/OperationKit/OperationKit.docc/FromFoundation.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    let block = text.components(separatedBy: "```\(name)\n").dropFirst().first
    return try #require(block).components(separatedBy: "```")[0]
  }

  private static let compilers = ["5", "6"].flatMap { mode in
    [[], ["MemberImportVisibility"]].map { Compiler(mode: mode, features: $0) }
  }

  @Test(arguments: 0..<4) func `a file that imports by name compiles`(_ number: Int) throws {
    let compiler = MigrationTests.compilers[number]
    let file = try block("swift-imports") + program
    #expect(try compiler.complaints(about: ["File.swift": file]) == [])
    let wrong = file.replacing("import enum OperationKit.QualityOfService\n", with: "")
    #expect(try !compiler.complaints(about: ["File.swift": wrong]).isEmpty, "the probe can see")
  }

  @Test(arguments: 0..<4) func `one file moves a module`(_ number: Int) throws {
    let compiler = MigrationTests.compilers[number]
    let own = compiler.features.isEmpty ? "" : "import OperationKit\n"
    let files = [
      "Names.swift": try block("swift-names"), "File.swift": "import Foundation\n\(own)\(program)",
    ]
    #expect(try compiler.complaints(about: files) == [])
  }

  @Test(arguments: 0..<4) func `one file moves a module with public subclasses`(
    _ number: Int
  ) throws {
    let compiler = MigrationTests.compilers[number]
    let names = try block("swift-names").replacing("typealias", with: "public typealias")
    let own = compiler.features.isEmpty ? "" : "import OperationKit\n"
    func complaints(_ nested: String) throws -> [String] {
      try compiler.complaints(about: [
        "Names.swift": names, "Download.swift": "import Foundation\n\(own)\(publicSubclass)",
        "Level.swift": "import Foundation\n\(nested)\(publicExtension)",
      ])
    }
    #expect(try complaints("import OperationKit\n") == [])
    #expect(try !complaints("").isEmpty, "a nested type needs the import")
  }
}

@Suite(.blocking) struct DataRaceTests {
  /// A program in which each marked line changes data from several threads that only one may
  /// change.
  private func racy(_ module: String) -> String {
    """
    import \(module)
    func race(_ queue: OperationQueue) {
      var count = 0
      queue.addOperation { count += 1 }
      let block = BlockOperation { count += 1 }
      block.addExecutionBlock { count += 1 }
      block.completionBlock = { count += 1 }
      queue.addBarrierBlock { count += 1 }
      queue.addOperation(block)
      print(count)
    }
    """
  }

  @Test(arguments: ["5", "6"]) func `a data race is what it is with Foundation`(
    _ mode: String
  ) throws {
    let compiler = Compiler(mode: mode)
    let ours = try compiler.complaints(about: ["Race.swift": racy("OperationKit")])
    let theirs = try compiler.complaints(about: ["Race.swift": racy("Foundation")])
    #expect(ours == theirs)
    let kind = mode == "6" ? "error" : "warning"
    #expect(ours == (4...8).map { "Race.swift:\($0): \(kind)" })
  }
}

@Suite(.blocking) struct DocumentationTests {
  private static let folder = root.appending(path: "Sources/OperationKit/OperationKit.docc")

  private static func files(_ folder: URL, _ kind: String) throws -> [URL] {
    try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .filter { $0.pathExtension == kind }
  }

  @Test func `every step of the tutorials compiles, and every file is a step`() throws {
    let steps = try Self.files(Self.folder.appending(path: "Resources"), "swift")
    let tutorials = try Self.files(Self.folder, "tutorial").map {
      try String(contentsOf: $0, encoding: .utf8)
    }
    #expect(steps.count > 8)
    for step in steps {
      let text = try String(contentsOf: step, encoding: .utf8)
      #expect(try Compiler().complaints(about: ["Step.swift": text]) == [], "\(step)")
      #expect(tutorials.count { $0.contains("file: \(step.lastPathComponent))") } == 1, "\(step)")
    }
  }

  /// SwiftPM puts it there for another package.
  @Test func `what others fetch needs no system library`() throws {
    let scratch = URL(filePath: NSTemporaryDirectory()).appending(path: UUID().uuidString)
    let folder = scratch.appending(path: "checkouts/oprun")
    for path in [folder, scratch.appending(path: "repositories")] {
      try FileManager.default.createDirectory(at: path, withIntermediateDirectories: true)
    }
    defer { try? FileManager.default.removeItem(at: scratch) }
    let manifest = root.appending(path: "Package.swift")
    try FileManager.default.copyItem(at: manifest, to: folder.appending(path: "Package.swift"))
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["swift", "package", "--package-path", folder.path, "dump-package"]
    process.standardOutput = pipe
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    struct Manifest: Decodable {
      struct Part: Decodable { let name: String, type: String? }
      struct Product: Decodable { let name: String }
      let targets: [Part], products: [Product]
    }
    let found = try JSONDecoder().decode(Manifest.self, from: output)
    #expect(found.products.map(\.name) == ["OperationKit"])
    #expect(!found.targets.contains { $0.type == "system" || $0.type == "test" })
    #expect(
      found.targets.map(\.name).sorted() == ["CLinux", "OperationKit", "Processors", "Scheduling"])
  }

  @Test func `the page's manifest fetches a version and builds`() throws {
    let scratch = URL(filePath: NSTemporaryDirectory()).appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: scratch) }
    let (oprun, app) = (scratch.appending(path: "oprun"), scratch.appending(path: "app"))
    try Self.makeRepository(at: oprun)
    try Self.makeApp(at: app, using: oprun)
    try Self.run(["swift", "package", "--cache-path", "cache", "resolve"], in: app)
    let options = ["--cache-path", "cache", "--disable-index-store", "-debug-info-format", "none"]
    let output = try Self.run(["swift", "run", "--quiet"] + options, in: app)
    #expect(output == "it runs\n", "a consumer's build says nothing else")
  }

  /// What others fetch, with a tag.
  private static func makeRepository(at folder: URL) throws {
    let sources = folder.appending(path: "Sources")
    try FileManager.default.createDirectory(at: sources, withIntermediateDirectories: true)
    let modules = ["CLinux", "OperationKit", "Processors", "Scheduling"]
    for part in ["Package.swift"] + modules.map({ "Sources/\($0)" }) {
      try FileManager.default.copyItem(
        at: root.appending(path: part), to: folder.appending(path: part))
    }
    let git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    try run(git + ["init", "--quiet"], in: folder)
    try run(git + ["add", "."], in: folder)
    try run(git + ["commit", "--quiet", "--message=All"], in: folder)
    try run(git + ["tag", "0.1.0"], in: folder)
  }

  /// A package that takes a version of another as the page says.
  private static func makeApp(at app: URL, using oprun: URL) throws {
    let sources = app.appending(path: "Sources/app")
    try FileManager.default.createDirectory(at: sources, withIntermediateDirectories: true)
    let page = folder.appending(path: "OperationKit.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    let block = text.components(separatedBy: "```swift-manifest\n").dropFirst().first
    let lines = try #require(block).components(separatedBy: "```")[0]
    #expect(lines.contains("\"file:///path/to/oprun\""))
    let manifest = """
      // swift-tools-version: 6.2
      import PackageDescription
      let package = Package(
        name: "app",
      \(lines.replacing("/path/to/oprun", with: oprun.path)))
      """
    let program = """
      import OperationKit
      let queue = OperationQueue()
      queue.addOperation { print("it runs") }
      queue.waitUntilAllOperationsAreFinished()
      """
    try manifest.write(
      to: app.appending(path: "Package.swift"), atomically: false, encoding: .utf8)
    try program.write(
      to: sources.appending(path: "main.swift"), atomically: false, encoding: .utf8)
  }

  /// What a program prints, errors too.
  @discardableResult
  private static func run(_ arguments: [String], in folder: URL) throws -> String {
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = arguments
    process.currentDirectoryURL = folder
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: output, as: UTF8.self)
  }
}
