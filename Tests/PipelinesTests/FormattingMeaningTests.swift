// `oprun fmt` changes no meaning: what the project has of valid pipelines becomes the same plan after
// formatting as before.

import Diagnostics
import Formatting
import Foundation
import Pipelines
import Plans
import Testing

@Suite struct `After formatting` {
  @Test func `every file of the language cases becomes the same plan`() throws {
    var count = 0
    for language in LanguageCase.all where language.expected.hasPrefix("--- plan") {
      let files = try language.files.mapValues(formatted)
      #expect(language.outcome(files) == language.outcome(), "\(language.name)")
      #expect(try files.mapValues(formatted) == files, "\(language.name)")
      count += 1
    }
    #expect(count > 100)
  }

  @Test func `every pipeline of the project and of the cases becomes the same plan`() throws {
    var count = 0
    for file in try projectFiles() {
      let bytes = [UInt8](try Data(contentsOf: file))
      guard case .plan(let before) = planned(bytes, listing(file)) else { continue }
      let result = try FormattedText(bytes)
      #expect(try FormattedText(result.bytes).isChanged == false, "\(file.path)")
      guard case .plan(let after) = planned(result.bytes, listing(file)) else {
        Issue.record("\(file.path) is not valid any more")
        continue
      }
      #expect(before.described == after.described, "\(file.path)")
      count += 1
    }
    #expect(count > 200)
  }

  @Test func `the files in 'Pipelines' are as they were`() throws {
    let folder = repository.appending(path: "Pipelines")
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
    where name.hasSuffix(".yml") {
      let bytes = [UInt8](try Data(contentsOf: folder.appending(path: name)))
      #expect(try !FormattedText(bytes).isChanged, "Pipelines/\(name): run 'oprun fmt'")
    }
  }

  private func formatted(_ text: String) throws -> String {
    String(decoding: try FormattedText(Array(text.utf8)).bytes, as: UTF8.self)
  }

  /// Files that a pipeline names are looked for beside it.
  private func listing(_ file: URL) -> PlanningOptions {
    var options = PlanningOptions(processorCount: 2)
    options.demandsAllParameters = false
    options.showsEveryStep = true
    let folder = file.deletingLastPathComponent()
    options.files = PipelineFiles { path, _ in
      .success((try? Data(contentsOf: folder.appending(path: path))).map { [UInt8]($0) })
    }
    return options
  }

  private func projectFiles() throws -> [URL] {
    try ["Pipelines", "Tests/Cases"].flatMap { name -> [URL] in
      let folder = repository.appending(path: name)
      let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
      return paths.filter { $0.hasSuffix(".yml") }.sorted().map { folder.appending(path: $0) }
    }
  }
}
