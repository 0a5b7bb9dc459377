// Runs every case in Tests/Language and compares the whole plan or all errors. OPRUN_BLESS=1 writes
// what was seen into the files: review the difference before committing it.

import Foundation
import Testing

@Suite(.serialized) struct LanguageTests {
  @Test(arguments: LanguageCase.all)
  func `a file becomes this plan, or these errors`(of language: LanguageCase) {
    #expect(language.outcome() == language.expected)
  }

  @Test func `there are cases`() {
    #expect(LanguageCase.all.count >= 80)
  }

  @Test func `twelve kinds of files are translated, each with what stays in the way`() {
    let translated = LanguageCase.all.filter { $0.file.hasPrefix("translated/") }
    #expect(Set(translated.map(\.file)).count == 12)
    for language in translated {
      #expect(language.outcome().hasPrefix("--- plan\n"), "\(language.name)")
      #expect(language.files["pipeline.yml"]?.hasPrefix("# Workaround: ") == true)
    }
  }

  @Test(.enabled(if: ProcessInfo.processInfo.environment["OPRUN_BLESS"] == "1"))
  func `what was seen is written down`() throws {
    for (file, cases) in Dictionary(grouping: LanguageCase.all, by: \.file) {
      let blocks = cases.map { language in
        let head = language.head.joined(separator: "\n").trimmingCharacters(in: .newlines)
        return head + "\n" + language.outcome().trimmingCharacters(in: .newlines) + "\n"
      }
      let place = LanguageCase.folder.appending(path: file)
      try blocks.joined(separator: "\n").write(to: place, atomically: false, encoding: .utf8)
    }
  }
}
