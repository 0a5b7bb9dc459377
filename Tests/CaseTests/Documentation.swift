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

  /// A link to a file of the repository, by its path from there, and perhaps to a heading in it.
  struct Link: Sendable {
    let file: String
    let anchor: String?
  }

  var links: [Link] {
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    return lines.flatMap { line in
      line.matches(of: /\]\(([^)#:]*)(?:#([^)]*))?\)/).map { match in
        let target = String(match.output.1)
        return Link(
          file: target.isEmpty ? path : folder + target, anchor: match.output.2.map(String.init))
      }
    }
  }

  /// The anchors that GitHub gives to headings: their text in lower case, without punctuation and with
  /// `-` for spaces; when it occurs again, with a number.
  var anchors: Set<String> {
    var counts: [String: Int] = [:]
    var anchors: Set<String> = []
    var isInBlock = false
    for line in lines {
      if line.hasPrefix("```") { isInBlock.toggle() }
      guard !isInBlock, let heading = line.firstMatch(of: /^#{1,6} (.*)$/) else { continue }
      let text = heading.output.1.replacing(/\]\([^)]*\)/, with: "").lowercased()
      let kept = text.filter { $0.isLetter || $0.isNumber || "-_ ".contains($0) }
      let anchor = kept.replacing(" ", with: "-")
      let count = counts[anchor, default: 0]
      counts[anchor] = count + 1
      anchors.insert(count == 0 ? anchor : "\(anchor)-\(count)")
    }
    return anchors
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
