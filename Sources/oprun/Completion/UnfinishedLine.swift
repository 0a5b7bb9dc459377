// The possible words at the end of a command line that is still being typed.

import Diagnostics

/// A command line whose last word is not finished.
struct UnfinishedLine {
  /// A kind of word that the last one may be.
  enum Expected: Hashable {
    case command
    case option
    case choice([String])
    case file
    case directory
    case pipelineFile
    case step
    case parameter
    case run
    case recordedStep
    case word
  }

  /// The words before the last one, as far as they make sense.
  let invocation: Invocation
  let expected: [Expected]
  /// The beginning of the last word that stays as it is: `--output=`.
  let kept: String
  /// The rest of the last word, with which candidates begin.
  let typed: String

  /// Reads the words after the program's name, of which the last may be empty.
  init(_ words: [String]) {
    let last = words.last ?? ""
    let before = words.dropLast()
    let command = before.first.flatMap(Subcommand.named)
    let isNamed = command != nil
    let reading = ArgumentParser.readUnfinished(
      before.dropFirst(isNamed ? 1 : 0), of: command ?? .run)
    var invocation = reading.invocation
    invocation.isCommandNamed = isNamed
    self.invocation = invocation

    let equals = last.firstIndex(of: "=")
    if let option = reading.pending {
      (kept, typed) = ("", last)
      expected = Self.values(of: option, invocation.command)
    } else if !reading.isAfterDashes, last.hasPrefix("--"), let equals {
      let flag = last[..<equals]
      (kept, typed) = (flag + "=", String(last[last.index(after: equals)...]))
      let option = invocation.command.options.first { $0.flag == flag }
      expected = option.map { Self.values(of: $0, invocation.command) } ?? []
    } else if !reading.isAfterDashes, last.hasPrefix("-") {
      (kept, typed, expected) = ("", last, [.option])
    } else {
      // The words are for another program, and not known here.
      let isOfAnother = reading.isAfterDashes && invocation.command.rest != nil
      (kept, typed, expected) = ("", last, isOfAnother ? [] : Self.operands(invocation))
    }
  }

  private static func values(of option: Option, _ command: Subcommand) -> [Expected] {
    switch option.value {
    case .choice(let words): [.choice(words)]
    case .assignment: [.parameter]
    case .text("FILE", _): [.file]
    case .text(let placeholder, _): [meaning(of: placeholder, command)].compactMap(\.self)
    case .count, .duration, nil: []
    }
  }

  /// The kinds of the next operand: the kind at its position in the synopsis, and those that may
  /// follow if that one is left out.
  private static func operands(_ invocation: Invocation) -> [Expected] {
    let command = invocation.command
    let places = command.operands.split(separator: " ")
    let count = invocation.operands.count
    var expected: [Expected] = []
    if !invocation.isCommandNamed, count == 0 { expected.append(.command) }
    for place in places.dropFirst(count).prefix(count == 0 ? 2 : 1) {
      expected += [meaning(of: word(in: place), command)].compactMap(\.self)
      if !place.hasPrefix("[") { break }
    }
    if count >= places.count, let last = places.last, last.containsText("…") {
      expected += [meaning(of: word(in: last), command)].compactMap(\.self)
    }
    return expected
  }

  /// The word in a place of the synopsis, such as `STEP` in `[STEP…]`.
  private static func word(in place: Substring) -> String {
    String(place.drop { $0 == "[" }.prefix { $0 != "…" && $0 != "]" })
  }

  private static func meaning(of placeholder: String, _ command: Subcommand) -> Expected? {
    switch placeholder {
    case "COMMAND": .command
    case "FILE": .pipelineFile
    case "DIR": .directory
    case "RUN": .run
    case "WORD": .word
    case "STEP": command.takesFile ? .step : .recordedStep
    default:
      placeholder.contains("|") ? .choice(placeholder.split(separator: "|").map(String.init)) : nil
    }
  }
}
