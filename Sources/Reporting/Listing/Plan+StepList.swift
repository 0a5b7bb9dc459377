// The steps of a pipeline in file order, one line each.

import Diagnostics
package import Plans
package import Scheduling

extension Plan {
  /// Writes `id  command`; with a name or a description, `id  name: description`; then what is
  /// unusual about it. Instances whose lines would be equal are in that of their step.
  package func writeList(columns: Int, to sink: ByteSink) {
    let commands = sharedCommands
    let instances = groupsOfInstances
    let listed = operations.filter { operation in
      instances.isEmpty || commands[OperationID(Int(instances[operation.index]))] == nil
    }
    let widest = min(
      40, listed.lazy.map { displayWidth(of: sink.shortened(steps[$0.index].id)) }.max() ?? 0)
    for operation in listed {
      let step = steps[operation.index]
      let id = sink.shortened(step.id)
      let width = displayWidth(of: id)
      sink.write(id)
      sink.write(spaces: max(0, widest - width) + 2)
      let notes = notes(on: operation)
      let rest = max(24, columns - max(widest, width) - 2 - displayWidth(of: notes))
      if let title = title(of: operation) {
        sink.write(oneLine(title, columns: rest))
        sink.write(notes.isEmpty ? "" : "  ")
      } else if let command = commands[operation] ?? step.work.shown {
        sink.write("$ ")
        sink.write(firstLineOf: command, columns: rest - 2)
        sink.write(notes.isEmpty ? "" : "  ")
      }
      sink.write(notes)
      sink.writeNewline()
    }
  }

  /// The commands of the steps with a matrix whose instances all run the same one, or share a
  /// title, which takes its place.
  private var sharedCommands: [OperationID: ShownCommand] {
    var commands: [OperationID: ShownCommand] = [:]
    for group in Set(groupsOfInstances) where group >= 0 {
      let group = OperationID(Int(group))
      let shown = (groups[group]?.members ?? []).map { steps[$0.index].work.shown }
      guard let first = shown.first ?? nil else { continue }
      let isSame = title(of: group) != nil || shown.allSatisfy { $0?.text == first.text }
      if isSame { commands[group] = first }
    }
    return commands
  }

  /// The name and the description, as far as the file has them.
  package func title(of operation: OperationID) -> String? {
    let name = steps[operation.index].settings.name
    guard let description = remarks[operation]?.description.map(joinedLines) else { return name }
    return name.map { "\($0): \(description)" } ?? description
  }

  /// Notes such as `(4 instances, if: params.deploy)`.
  private func notes(on operation: OperationID) -> String {
    let members = membersInWords(of: operation)
    let condition = steps[operation.index].late?.conditionInWords
    let words = [members, serviceInWords(operation), condition].compactMap(\.self)
    let notes = (remarks[operation]?.words ?? []) + words
    return notes.isEmpty ? "" : "(\(notes.joined(separator: ", ")))"
  }

  /// Writes a list of objects; the fields are documented in docs/command-line.md, "List as JSON".
  package func writeJSONList(to sink: ByteSink) {
    sink.isFormat = true
    let lines = StepLines(self)
    let names = OperationNames(self, sink.masker)
    let fields = OperationFields(self, name: names.callAsFunction)
    sink.write(jsonList: operations) { operation in
      sink.write("\n{")
      fields.writeStep(operation, to: sink)
      fields.writeCommand(of: operation, to: sink)
      sink.write(field: "depends_on")
      let edges = graph.dependencies(of: operation).lazy.filter {
        !fields.groups.holds($0) && !fields.groups.repeats($0)
      }
      sink.write(jsonList: edges) { sink.write(json: names($0.from)) }
      lines.writeFields(of: operation, to: sink)
      sink.write("}")
    }
    sink.writeNewline()
  }
}
