// The results of tests of pipelines for programs: JUnit and JSON.

package import Diagnostics
import Plans

package enum TestReport {
  package typealias File = (path: String, sources: SourceMap, results: [CaseResult])

  /// JUnit: a suite for each file, a case for each case.
  package static func junit(_ files: [File]) -> String {
    let sink = ByteSink.intoMemory()
    sink.write("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n")
    for file in files {
      sink.write("<testsuite")
      write("name", file.path, to: sink)
      write("tests", "\(file.results.count)", to: sink)
      write("failures", "\(file.results.count { !$0.isOK })", to: sink)
      sink.write(" errors=\"0\" skipped=\"0\">\n")
      for result in file.results { write(result, of: file, to: sink) }
      sink.write("</testsuite>\n")
    }
    sink.write("</testsuites>\n")
    return sink.text
  }

  private static func write(_ result: CaseResult, of file: File, to sink: ByteSink) {
    sink.write("<testcase")
    write("classname", file.path, to: sink)
    write("name", result.test.name, to: sink)
    if result.isOK { return sink.write("/>\n") }
    sink.write(">\n")
    for fault in result.faults {
      sink.write("<failure")
      write("message", located(fault, file.sources), to: sink)
      sink.write("/>\n")
    }
    sink.write("<system-out>")
    for line in result.timeline {
      sink.write(xml: line)
      sink.writeNewline()
    }
    sink.write("</system-out>\n</testcase>\n")
  }

  private static func located(_ fault: CaseResult.Fault, _ sources: SourceMap) -> String {
    let position = sources.position(of: fault.span)
    return "\(position.path):\(position.line):\(position.column): \(fault.message)"
  }

  private static func write(_ attribute: StaticString, _ value: String, to sink: ByteSink) {
    sink.write(" ")
    sink.write(attribute)
    sink.write("=\"")
    sink.write(xml: value)
    sink.write("\"")
  }

  /// A list of all cases.
  package static func write(json files: [File], to sink: ByteSink) {
    let all = files.flatMap { file in file.results.map { (file, $0) } }
    sink.write(jsonList: all) { file, result in
      sink.write("\n{")
      sink.write(field: "file", isFirst: true)
      sink.write(json: file.path)
      sink.write(field: "case")
      sink.write(json: result.test.name)
      sink.write(field: "ok")
      sink.write(result.isOK ? "true" : "false")
      sink.write(field: "faults")
      sink.write(jsonList: result.faults) { fault in
        let position = file.sources.position(of: fault.span)
        sink.write(own: "{\"line\":\(position.line),\"column\":\(position.column)")
        sink.write(field: "message")
        sink.write(json: fault.message)
        sink.write("}")
      }
      sink.write(field: "timeline")
      sink.write(jsonList: result.timeline) { sink.write(json: $0) }
      sink.write("}")
    }
    sink.write("\n")
  }
}
