// The `tools` of steps: what they print is a part of keys. Each is asked once for all steps that give it the same
// variables.

import Plans

/// A command of `tools`, and the variables with which it runs.
package struct ToolQuestion: Hashable {
  /// The words of the command, of which bytes count as they do in paths.
  let command: PathName
  let environment: CacheDigest

  package init(_ command: String, environment: CacheDigest = .none) {
    self.command = PathName(command)
    self.environment = environment
  }
}

/// The variables of the command of a step, but for those that oprun makes for each: a tool may be found by `PATH`, and
/// may do what others tell it.
final class ToolEnvironment {
  fileprivate let own: [EnvironmentVariable]
  fileprivate let declared: [String]
  /// The words of the command, as a program gets them.
  let words: [String]
  private let digest: CacheDigest

  fileprivate init(
    _ own: [EnvironmentVariable], _ declared: [String], inherited: [String: String]
  ) {
    self.own = own
    self.declared = declared
    let passed = CachedVariables.passed.union(declared)
    var values = inherited.filter { passed.contains($0.key) }
    for variable in own { values[variable.name] = variable.value }
    words = values.map { "\($0.key)=\($0.value)" }.sorted { $0.precedesByBytes($1) }
    var builder = DigestBuilder()
    for word in words { builder.add(word) }
    digest = builder.finish()
  }

  func question(_ command: String) -> ToolQuestion { ToolQuestion(command, environment: digest) }
}

extension StepCache {
  /// The environment of the tools of a step with these variables. Steps that follow each other often have the same.
  func toolEnvironment(
    _ own: [EnvironmentVariable], _ settings: CacheSettings
  ) -> ToolEnvironment {
    let declared = settings.environment
    if let last = lastToolEnvironment, last.declared.elementsEqual(declared, by: sameBytes),
      last.own.elementsEqual(
        own,
        by: { $0.name.hasSameBytes(as: $1.name) && $0.value.hasSameBytes(as: $1.value) })
    {
      return last
    }
    let environment = ToolEnvironment(own, declared, inherited: options.environment)
    lastToolEnvironment = environment
    return environment
  }

  private func sameBytes(_ left: String, _ right: String) -> Bool { left.hasSameBytes(as: right) }

  /// The questions to be answered before the step can be described.
  func missingTools(of lookup: CacheLookup) -> [(CacheJobKey, CacheJob)] {
    if lookup.settings.tools.isEmpty { return [] }
    let environment = toolEnvironment(lookup.variables, lookup.settings)
    return lookup.settings.tools.compactMap { command in
      let question = environment.question(command)
      if tools[question] != nil { return nil }
      return (.tool(question), .tool(command, environment: environment.words))
    }
  }

  /// Asks all tools again.
  func forgetTools() { tools = [:] }

  package func take(_ reply: CacheReply, ofTool command: ToolQuestion) {
    switch reply {
    case .tool(let digest): tools[command] = .success(digest)
    case .fault(let fault): tools[command] = .failure(fault)
    case .inspected, .restored, .kept, .transferred:
      preconditionFailure("an answer to another question")
    }
  }

  func describe(_ lookup: CacheLookup) {
    let environment =
      lookup.settings.tools.isEmpty ? nil : toolEnvironment(lookup.variables, lookup.settings)
    for command in lookup.settings.tools {
      switch environment.flatMap({ tools[$0.question(command)] }) {
      case .success(let digest): lookup.description.add(.tool, command, value: digest.hexadecimal)
      case .failure(let fault): lookup.fault = fault
      case nil: preconditionFailure("a tool that was not asked")
      }
    }
    lookup.description.finish()
    lookup.isDescribed = true
  }
}
