// What the documentation shows is true: its pipelines are valid, its commands print what is shown
// below them, its links have targets.

import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct DocumentationTests {
  @Test func `pipelines in the documentation are valid`() throws {
    for document in Document.all {
      let workspace = try Workspace(named: "work", holding: [])
      for block in document.blocks { try write(block, into: workspace) }
      for block in document.blocks where block.language == "yaml" && isWhole(block.text) {
        try workspace.write(block.text, to: "pipeline.yml")
        let end = try workspace.run("oprun validate pipeline.yml 2>&1")
        #expect(end.status == 0, "\(document.path):\(block.line)\n\(end.output)")
      }
    }
  }

  /// A block of `yaml` whose first line is `# NAME.yml` is the file that commands and others use.
  /// Steps that run at the same time may end in any order, so lines are compared sorted.
  @Test func `commands in the documentation print what stands below them`() throws {
    for document in Document.all {
      let workspace = try Workspace(
        named: "work", holding: [repository.appending(path: "Pipelines")])
      for block in document.blocks {
        try write(block, into: workspace)
        for command in block.language == "console" ? block.commands : [] {
          let seen = sorted(
            workspace.normalised(try workspace.run("{ \(command.line); } 2>&1").output))
          let shown = sorted(workspace.normalised(command.output))
          let isTrue = shown == seen
          #expect(isTrue, "\(document.path): \(command.line)\n\(difference(shown, seen))")
        }
      }
    }
  }

  @Test func `the first example of the README succeeds in any folder, also a second time`() throws {
    let readme = Document(path: "README.md")
    let example = try #require(readme.blocks.first { $0.language == "yaml" })
    let workspace = try Workspace(named: "any folder", holding: [])
    try workspace.write(example.text, to: "first.yml")
    for _ in 1...2 {
      let end = try workspace.run("oprun first.yml 2>&1")
      #expect(end.status == 0, "\(end.output)")
    }
  }

  @Test func `links in the documentation lead to files and headings`() {
    var anchors: [String: Set<String>] = [:]
    for document in Document.all {
      for link in document.links {
        let file = repository.appending(path: link.file).path
        #expect(FileManager.default.fileExists(atPath: file), "\(document.path): \(link.file)")
        guard let anchor = link.anchor, link.file.hasSuffix(".md") else { continue }
        let known = anchors[link.file] ?? Document(path: link.file).anchors
        anchors[link.file] = known
        #expect(known.contains(anchor), "\(document.path): \(link.file)#\(anchor)")
      }
    }
  }

  private func write(_ block: Document.Block, into workspace: Workspace) throws {
    let head = /^# ([a-z-]+(\.test)?\.yml)\n/
    if block.language == "yaml", let name = block.text.firstMatch(of: head) {
      try workspace.write(block.text, to: String(name.output.1))
    }
  }

  private func sorted(_ text: String) -> String {
    text.split(separator: "\n").sorted().joined(separator: "\n")
  }

  private func isWhole(_ text: String) -> Bool {
    text.hasPrefix("steps:") || text.contains("\nsteps:")
  }
}
