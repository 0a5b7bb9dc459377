// What CI runners do with every line of a log: small models, written from their documentation and their
// sources, and not from the code that is tested.

import Foundation
import Reporting

/// What a runner made of a log.
struct RunnerView: Equatable {
  /// Titles, in the order in which they were opened.
  var groups: [String] = []
  var annotations: [String] = []
  var masks: [String] = []
  /// Lines as people see them, with `*` in place of what is masked.
  var log: [String] = []
  /// What a run must never do.
  var problems: [String] = []
}

protocol RunnerModel {
  mutating func read(_ line: String)
  var view: RunnerView { get set }
  var openGroup: String? { get }
}

extension CIRunner {
  func reads(_ text: String) -> RunnerView {
    var model: any RunnerModel =
      switch self {
      case .github: GitHubModel()
      case .gitlab: GitLabModel()
      case .buildkite: BuildkiteModel()
      case .teamcity: TeamCityModel()
      case .azure: AzureModel()
      }
    for line in lines(of: text) { model.read(line) }
    if let open = model.openGroup { model.view.problems.append("'\(open)' is never closed") }
    return model.view
  }

  /// `StreamReader.ReadLine` of .NET, and of Java, ends lines at CR, too. GitLab and Buildkite see bytes.
  private func lines(of text: String) -> [String] {
    let ends: [Unicode.Scalar] =
      switch self {
      case .github, .azure, .teamcity: ["\n", "\r"]
      case .gitlab, .buildkite: ["\n"]
      }
    return text.unicodeScalars.split(omittingEmptySubsequences: false) { ends.contains($0) }
      .map { String(String.UnicodeScalarView($0)) }
  }
}

/// Text as .NET compares it: what cannot be seen does not count.
private func compared(_ text: String) -> String {
  String(
    String.UnicodeScalarView(
      text.unicodeScalars.filter {
        let isControl = $0.value < 0x20 && $0 != "\t" || (0x7F..<0xA0).contains($0.value)
        return !isControl && !$0.properties.isDefaultIgnorableCodePoint
      }))
}

/// ActionCommand.TryParseV2 and TryParse, ActionCommandManager.TryProcessCommand, and the page of a job.
struct GitHubModel: RunnerModel {
  var view = RunnerView()
  private(set) var openGroup: String?
  private var stopWord: String?
  private static let names = [
    "add-mask", "add-matcher", "remove-matcher", "add-path", "debug", "echo", "error", "warning",
    "notice", "group", "endgroup", "save-state", "set-env", "set-output", "stop-commands",
  ]

  private struct Command {
    let name: String
    let properties: [String: String]
    let data: String
  }

  mutating func read(_ line: String) {
    guard
      let command = command(in: compared(line), ends: "::") ?? bracketCommand(in: compared(line))
    else { return show(line) }
    if let stopWord {
      guard command.name == stopWord else { return show(line) }
      self.stopWord = nil
      return
    }
    perform(command)
  }

  private func isKnown(_ name: String) -> Bool {
    name == stopWord || Self.names.contains { $0.caseInsensitiveCompare(name) == .orderedSame }
  }

  private func command(in line: String, ends: String) -> Command? {
    let text = line.drop { $0.isWhitespace }
    guard text.hasPrefix("::"), let end = text.dropFirst(2).range(of: "::") else { return nil }
    let head = text.dropFirst(2)[..<end.lowerBound]
    let words = head.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
    guard isKnown(String(words[0])) else { return nil }
    var properties: [String: String] = [:]
    for part in words.dropFirst().joined().split(separator: ",") {
      let pair = part.split(separator: "=", maxSplits: 1)
      if pair.count == 2 {
        properties[String(pair[0])] = unescaped(
          String(pair[1]), [("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")])
      }
    }
    let data = unescaped(
      String(text[end.upperBound...]), [("%0D", "\r"), ("%0A", "\n"), ("%25", "%")])
    return Command(name: String(words[0]), properties: properties, data: data)
  }

  private func bracketCommand(in line: String) -> Command? {
    guard let start = line.range(of: "##["),
      let end = line[start.upperBound...].firstIndex(of: "]")
    else { return nil }
    let head = line[start.upperBound..<end].split(separator: " ", maxSplits: 1)
    guard let name = head.first, isKnown(String(name)) else { return nil }
    return Command(
      name: String(name), properties: [:], data: String(line[line.index(after: end)...]))
  }

  private mutating func perform(_ command: Command) {
    switch command.name.lowercased() {
    case "group":
      if openGroup != nil { view.problems.append("a group in a group: '\(command.data)'") }
      openGroup = command.data
      view.groups.append(command.data)
    case "endgroup":
      if openGroup == nil { view.problems.append("a group is closed twice") }
      openGroup = nil
    case "error", "warning":
      if openGroup != nil { view.problems.append("an annotation in a group") }
      let place = ["file", "line", "col"].compactMap { command.properties[$0] }
      view.annotations.append(
        "\(command.name) \(place.joined(separator: ":")) \(command.properties["title"] ?? "-"): "
          + command.data)
    case "add-mask":
      if !view.log.isEmpty { view.problems.append("a mask after other text") }
      view.masks.append(command.data)
    case "stop-commands": stopWord = command.data
    default: view.problems.append("the command '\(command.name)'")
    }
  }

  /// The page shows lines that begin with `##[` as something else.
  private mutating func show(_ line: String) {
    if compared(line).hasPrefix("##[") { view.problems.append("the page obeys '\(line)'") }
    view.log.append(line)
  }
}

func unescaped(_ text: String, _ pairs: [(String, String)]) -> String {
  pairs.reduce(text) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
}

/// Command.TryParse of the agent of Azure Pipelines, and the formatting commands of its log.
struct AzureModel: RunnerModel {
  var view = RunnerView()
  private(set) var openGroup: String?

  mutating func read(_ line: String) {
    let text = compared(line)
    if let start = text.range(of: "##vso["), let end = text[start.upperBound...].firstIndex(of: "]")
    {
      let head = text[start.upperBound..<end].split(separator: " ", maxSplits: 1)
      let data = unescape(String(text[text.index(after: end)...]))
      return perform(head.first.map(String.init) ?? "", head.dropFirst().joined(), data)
    }
    if text.hasPrefix("##[group]") {
      if openGroup != nil { view.problems.append("a group in a group: '\(text)'") }
      openGroup = String(text.dropFirst(9))
      view.groups.append(String(text.dropFirst(9)))
    } else if text.hasPrefix("##[endgroup]") {
      if openGroup == nil { view.problems.append("a group is closed twice") }
      openGroup = nil
    } else if text.hasPrefix("##[") {
      view.problems.append("the page obeys '\(line)'")
    } else {
      view.log.append(line)
    }
  }

  private mutating func perform(_ name: String, _ properties: String, _ data: String) {
    var values: [String: String] = [:]
    for part in properties.split(separator: ";") {
      let pair = part.split(separator: "=", maxSplits: 1)
      if pair.count == 2 { values[String(pair[0])] = unescape(String(pair[1])) }
    }
    switch name {
    case "task.logissue":
      if openGroup != nil { view.problems.append("an annotation in a group") }
      let place = ["sourcepath", "linenumber", "columnnumber"].compactMap { values[$0] }
      view.annotations.append("\(values["type"] ?? "-") \(place.joined(separator: ":")) \(data)")
    case "task.setsecret":
      if !view.log.isEmpty { view.problems.append("a mask after other text") }
      view.masks.append(data)
    default: view.problems.append("the command '\(name)'")
    }
  }

  private func unescape(_ text: String) -> String {
    unescaped(text, [("%3B", ";"), ("%0D", "\r"), ("%0A", "\n"), ("%5D", "]"), ("%AZP25", "%")])
  }
}

/// Gitlab::Regex.logs_section_…: markers anywhere in the log.
struct GitLabModel: RunnerModel {
  var view = RunnerView()
  private var open: [String] = []
  private var names: Set<String> = []
  var openGroup: String? { open.last }

  mutating func read(_ line: String) {
    let marker =
      /section_(start|end):(\d+):([a-zA-Z0-9_.-]+)(\[\w+=\w+\])?\r\u{1b}\[0K(.*)/
      .matchingSemantics(.unicodeScalar)
    guard let match = line.firstMatch(of: marker) else { return view.log.append(line) }
    let name = String(match.output.3)
    if match.output.1 == "start" {
      if !open.isEmpty { view.problems.append("a section in a section: '\(name)'") }
      if !names.insert(name).inserted { view.problems.append("'\(name)' is there twice") }
      open.append(name)
      view.groups.append(String(match.output.5) + (match.output.4 ?? ""))
      if match.output.5.contains("section_") { view.problems.append("two markers in a line") }
    } else if open.popLast() != name {
      view.problems.append("'\(name)' ends and was not open")
    }
  }
}

/// The agent's header_time_streamer.go: headings at the start of a line, without colours.
struct BuildkiteModel: RunnerModel {
  var view = RunnerView()
  var openGroup: String? { nil }

  mutating func read(_ line: String) {
    let text = line.replacing(/\u{1b}\[[0-9;]*[mGK]/.matchingSemantics(.unicodeScalar), with: "")
    if let match = text.prefixMatch(of: /(---|\+\+\+|~~~)\s(.*)/) {
      view.groups.append("\(match.output.1) \(match.output.2)")
    } else if text.hasPrefix("^^^ +++") {
      view.annotations.append("opens \(view.groups.last ?? "nothing")")
    } else {
      view.log.append(line)
    }
  }
}

/// ServiceMessage.parse and the messages parser of TeamCity: messages anywhere in a line.
struct TeamCityModel: RunnerModel {
  var view = RunnerView()
  private var open: [String] = []
  var openGroup: String? { open.last }

  mutating func read(_ line: String) {
    var rest = line[...]
    var isMessage = false
    while let start = rest.range(of: "##teamcity[") {
      isMessage = true
      rest = rest[start.upperBound...]
      guard let message = Self.message(&rest) else {
        view.problems.append("a message that cannot be read: \(line)")
        break
      }
      perform(message.name, message.values)
    }
    if !isMessage { view.log.append(line) }
  }

  /// `name key='value' …]`.
  private static func message(
    _ text: inout Substring
  ) -> (name: String, values: [String: String])? {
    let name = text.prefix { $0.isLetter }
    text = text.dropFirst(name.count)
    var values: [String: String] = [:]
    while let first = text.first, first == " " {
      text = text.drop { $0 == " " }
      guard let equals = text.firstIndex(of: "="),
        text[text.index(after: equals)...].first == "'"
      else { return nil }
      let key = String(text[..<equals])
      text = text[text.index(equals, offsetBy: 2)...]
      guard let value = Self.value(&text) else { return nil }
      values[key] = value
    }
    guard text.popFirst() == "]" else { return nil }
    return (String(name), values)
  }

  private static func value(_ text: inout Substring) -> String? {
    var units: [UInt16] = []
    while let character = text.popFirst() {
      if character == "'" { return String(decoding: units, as: UTF16.self) }
      guard character == "|" else {
        if "[]".contains(character) { return nil }
        units += Array(String(character).utf16)
        continue
      }
      switch text.popFirst() {
      case "n": units += [10]
      case "r": units += [13]
      case "0":
        guard text.popFirst() == "x", let unit = UInt16(text.prefix(4), radix: 16) else {
          return nil
        }
        text = text.dropFirst(4)
        units.append(unit)
      case let escaped?: units += Array(String(escaped).utf16)
      case nil: return nil
      }
    }
    return nil
  }

  private mutating func perform(_ name: String, _ values: [String: String]) {
    switch name {
    case "blockOpened":
      open.append(values["name"] ?? "")
      view.groups.append(values["name"] ?? "")
    case "blockClosed":
      if open.popLast() != values["name"] { view.problems.append("another block is closed") }
    case "buildProblem":
      if !open.isEmpty { view.problems.append("an annotation in a group") }
      view.annotations.append("error \(values["description"] ?? "")")
      if (values["identity"] ?? "").wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]{0,59}/) == nil {
        view.problems.append("an identity '\(values["identity"] ?? "")'")
      }
    case "message": view.annotations.append("warning \(values["text"] ?? "")")
    default: view.problems.append("the message '\(name)'")
    }
  }
}
