// The documentation as a test sees it: fenced blocks and links.

import Foundation

/// A Markdown file of the repository.
struct Document: Sendable {
  /// The path relative to the repository.
  let path: String
  let lines: [String]

  /// A fenced block: ```` ```yaml ````.
  struct Block: Sendable {
    let language: String
    let line: Int
    let text: String
  }

  /// A line that starts with `$ ` in a block of `console`, and what follows it.
  struct Command: Sendable {
    let line: String
    let output: String
  }

  static let all: [Document] = {
    let folder = repository.appending(path: "docs")
    let docs = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    let paths =
      ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
      + docs.filter { $0.hasSuffix(".md") }.sorted().map { "docs/\($0)" }
    return paths.map(Document.init(path:))
  }()

  init(path: String) {
    self.path = path
    let text = try? String(contentsOf: repository.appending(path: path), encoding: .utf8)
    lines = (text ?? "").components(separatedBy: "\n")
  }

  var blocks: [Block] {
    var blocks: [Block] = []
    var open: (language: String, line: Int, lines: [String])?
    for (index, line) in lines.enumerated() {
      if let block = open, line == "```" {
        let text = block.lines.map { $0 + "\n" }.joined()
        blocks.append(Block(language: block.language, line: block.line, text: text))
        open = nil
      } else if open != nil {
        open?.lines.append(line)
      } else if line.hasPrefix("```") {
        open = (String(line.dropFirst(3)), index + 1, [])
      }
    }
    return blocks
  }

  /// Targets of links to files, relative to the document.
  var linkedFiles: [String] {
    lines.flatMap { line in
      line.matches(of: /\]\(([^)#:]+)(#[^)]*)?\)/).map { String($0.output.1) }
    }
  }
}

extension Document.Block {
  var commands: [Document.Command] {
    text.components(separatedBy: "\n$ ").enumerated().map { index, part in
      let part = index == 0 ? String(part.dropFirst(2)) : part
      let halves = part.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
      let output = halves.count > 1 ? String(halves[1]) : ""
      let isLast = output.isEmpty || output.hasSuffix("\n")
      return Document.Command(line: String(halves[0]), output: isLast ? output : output + "\n")
    }
  }
}
