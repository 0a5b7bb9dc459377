// `oprun report`: what is written afterwards is what the run would have written.

import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct `Reports of recorded runs` {
  private static let pipeline = """
    name: trial "run"
    max_parallel: 2
    steps:
      - {id: build, run: echo built}
      - id: test
        depends_on: [build]
        matrix: {os: [linux, 'b"sd']}
        run: echo "tried"; test '${{ matrix.os }}' = linux
        on_failure: {run: echo sorry}
        retry: 2
      - {id: pack, depends_on: [test], run: 'true'}
      - {id: slow, run: sleep 60, timeout: 50ms}
      - {id: none, run: 'true', if: 1 > 2}
      - {id: lost, run: ./not-there, allow_failure: true}
      - {id: list, run: 'echo "all=[1,2]" >>"$OPRUN_OUTPUT"', outputs: {all: json}}
      - {id: late, depends_on: [list], matrix: {n: '${{ steps.list.outputs.all }}'}, run: 'exit ${{ matrix.n }}'}
    on_complete: [{run: echo done}]
    """

  /// A run of it that has written reports, with status 1.
  private func run() throws -> Workspace {
    let place = try Workspace(named: "reports", holding: [])
    try place.write(
      Self.pipeline.replacing("echo [\"x\",\"y\"] >>\"$OPRUN_OUTPUT\"; ", with: ""), to: "p.yml")
    let end = try place.run(
      "oprun p.yml --output quiet --junit junit --summary markdown --trace trace --report html")
    #expect(end.status == 1, "\(end.errors)")
    return place
  }

  /// Measured times are left out, and commands that were known only during the run: they are shown as
  /// they are written.
  private func normalised(_ text: String) -> String {
    text.replacing(/[0-9.]+(s|ms)\b/, with: "TIME")
      .replacing(/time="[0-9.]+"/, with: "TIME")
      .replacing(/"(ts|dur|tid|end|time|start|row|wall)":[0-9.]+/) { "\"\($0.output.1)\":0" }
      .replacing(/exit ([0-9]|\$\{\{ matrix.n \}\})/, with: "exit N")
  }

  /// Commands that were started in the same microsecond may have any order.
  private func parts(of text: String) -> [String] {
    normalised(text).split(whereSeparator: { $0 == "{" || $0 == "\n" })
      .map { String($0.replacing(/[},\]]+$/, with: "")) }.sorted()
  }

  @Test(arguments: ["junit", "markdown", "trace", "html"])
  func `are those of the run`(format: String) throws {
    let place = try run()
    let report = try place.run("oprun report --format \(format)")
    #expect(report.errors == "")
    #expect(report.status == 0)
    #expect(parts(of: report.output) == parts(of: try place.run("cat \(format)").output))
  }

  @Test func `are read by others`() throws {
    let place = try run()
    let tools = repository.appending(path: ".build/test-tools").path
    try place.write(
      """
      import subprocess
      from google.protobuf.json_format import Parse
      from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
      from prometheus_client.parser import text_string_to_metric_families
      from junitparser import JUnitXml

      def report(format):
          return subprocess.run(["oprun", "report", "--format", format], check=True, capture_output=True).stdout

      spans = Parse(report("otlp"), ExportTraceServiceRequest()).resource_spans[0].scope_spans[0].spans
      run = spans[0]
      # Ids are in hexadecimal, which this reader takes for base 64: three bytes for four digits.
      assert all(len(s.trace_id) == 24 and len(s.span_id) == 12 for s in spans)
      assert all(s.parent_span_id == run.span_id and s.trace_id == run.trace_id for s in spans[1:])
      assert all(run.start_time_unix_nano <= s.start_time_unix_nano <= s.end_time_unix_nano for s in spans)
      assert len(set(s.span_id for s in spans)) == len(spans)
      print(run.name, run.status.code, sorted(f"{s.name} {s.status.code}" for s in spans[1:]))
      for family in text_string_to_metric_families(report("prometheus").decode()):
          for sample in family.samples:
              labels = sample.labels
              value = sample.value if family.name in ("oprun_run_ended", "oprun_run_steps", "oprun_run_exit_status", "oprun_step_ok") else ""
              print(sample.name, labels["pipeline"], labels.get("step", labels.get("outcome", "")), value)
      suite = list(JUnitXml.fromstring(report("junit")))[0]
      print(suite.name, suite.tests, suite.failures, suite.skipped)
      """, to: "read.py")
    let end = try place.run(
      "/usr/bin/python3 read.py | sed 's/ *$//' | sort", environment: ["PYTHONPATH": tools])
    #expect(end.errors == "")
    #expect(
      end.output == """
        oprun_run_duration_seconds trial "run"
        oprun_run_ended trial "run"  1
        oprun_run_exit_status trial "run"  1
        oprun_run_steps trial "run" allowed 1
        oprun_run_steps trial "run" blocked 1
        oprun_run_steps trial "run" failed 3
        oprun_run_steps trial "run" ok 3
        oprun_run_steps trial "run" skipped 1
        oprun_run_steps trial "run" timed_out 1
        oprun_run_timestamp_seconds trial "run"
        oprun_step_duration_seconds trial "run" build
        oprun_step_duration_seconds trial "run" late[n=1]
        oprun_step_duration_seconds trial "run" late[n=2]
        oprun_step_duration_seconds trial "run" list
        oprun_step_duration_seconds trial "run" lost
        oprun_step_duration_seconds trial "run" slow
        oprun_step_duration_seconds trial "run" test[os=b"sd]
        oprun_step_duration_seconds trial "run" test[os=linux]
        oprun_step_ok trial "run" build 1
        oprun_step_ok trial "run" late[n=1] 0
        oprun_step_ok trial "run" late[n=2] 0
        oprun_step_ok trial "run" list 1
        oprun_step_ok trial "run" lost 0
        oprun_step_ok trial "run" slow 0
        oprun_step_ok trial "run" test[os=b"sd] 0
        oprun_step_ok trial "run" test[os=linux] 1
        trial "run" 10 4 3
        trial "run" 2 ['build 1', 'late[n=1] 2', 'late[n=2] 2', 'list 1', 'lost 2', 'slow 2', 'test[os=b"sd] (attempt 2) 2', 'test[os=b"sd] (attempt 3) 2', 'test[os=b"sd] (on_failure) 1', 'test[os=b"sd] 2', 'test[os=linux] 1', 'the run (on_complete) 1']

        """)
  }

  @Test func `have all steps although the pipeline has lost some`() throws {
    let place = try run()
    try place.write("steps: [{id: build, run: echo built}]", to: "p.yml")
    let end = try place.run("oprun report --format junit")
    #expect(end.status == 0)
    #expect(
      end.errors
        == "oprun: the pipeline, or a secret in its names, has changed since the run: it has no step 'test[os=linux]' and 10 more: "
        + "the report has names, times and outcomes, but no commands and no graph\n")
    #expect(end.output.contains("name=\"build\""))
    #expect(end.output.contains("name=\"lost\""))
  }

  @Test func `need a run`() throws {
    let place = try Workspace(named: "reports", holding: [])
    #expect(try place.run("oprun report").status == 2)
    _ = try place.run("echo 'steps: [{id: a, run: \"true\"}]' | oprun -")
    let end = try place.run("oprun report >report.md; head -n 1 report.md")
    #expect(
      place.normalised(end.errors)
        == "oprun: the pipeline of run RUN was read from standard input, which is not kept\n"
        + "oprun: the pipeline of run RUN can no longer be used: the report has names, times and outcomes, but no commands and no graph\n"
    )
    #expect(try place.run("oprun report nothing").status == 2)
  }
}
