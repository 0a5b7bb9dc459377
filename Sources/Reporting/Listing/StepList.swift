// The steps of a pipeline in file order, one line each.

package import Pipelines
import Scheduling

extension Plan {
  /// `id  command`; with a name, `id  name`.
  package func writeList(columns: Int, to sink: ByteSink) {
    let widest = min(40, steps.lazy.map { $0.id.utf8.count }.max() ?? 0)
    for step in steps {
      sink.write(step.id)
      sink.write(spaces: widest - step.id.utf8.count + 2)
      let rest = max(24, columns - max(widest, step.id.utf8.count) - 2)
      if let name = step.settings.name {
        sink.write(oneLine(name, columns: rest))
      } else {
        sink.write("$ ")
        sink.write(firstLineOf: step.action, columns: rest - 2)
      }
      sink.writeNewline()
    }
  }

  /// A list of objects; the fields are documented in docs/command-line.md, "List as JSON".
  package func writeJSONList(to sink: ByteSink) {
    let lines = StepLines(self)
    sink.write(jsonList: operations) { operation in
      let step = steps[operation.index]
      sink.write("\n{")
      sink.write(field: "id", isFirst: true)
      sink.write(json: step.id)
      sink.write(field: "name")
      sink.write(json: step.settings.name ?? step.id)
      sink.write(field: "command")
      sink.write(json: step.action.commandText)
      sink.write(field: "depends_on")
      sink.write(jsonList: graph.dependencies(of: operation)) { edge in
        sink.write(json: steps[edge.from.index].id)
      }
      sink.write(field: "line")
      sink.write(decimal: lines[operation])
      sink.write("}")
    }
    sink.writeNewline()
  }
}
