// Event streams of real runs, compared with schema/events.schema.json and docs/events.md, and read
// by readers that stop reading or go away.

import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct EventStreamTests {
  /// Together they show every event except those that need another user's processes or 10 seconds.
  private static let pipelines = [
    """
    name: much
    max_parallel: 50
    secrets: [{name: TOKEN, from: env}]
    steps:
      - id: list
        run: |
          echo 'axis:json=["a","b c"]' >>"$OPRUN_OUTPUT"
          echo "hidden=x${TOKEN}y" >>"$OPRUN_OUTPUT"
          echo "word=late" >>"$OPRUN_OUTPUT"
        env: {TOKEN: "${{ secrets.TOKEN }}"}
      - id: each
        depends_on: [list]
        matrix: {item: "${{ steps.list.outputs.axis }}"}
        env: {ITEM: "${{ matrix.item }}"}
        run: echo "$ITEM"
      - {id: says, depends_on: [list], run: [echo, "${{ steps.list.outputs.word }}"]}
      - {id: flaky, run: "test $OPRUN_ATTEMPT = 2", retry: {limit: 1, delay: 1ms}}
      - id: daemon
        orphans: warn
        run: setsid sleep 60 & echo "\\"quoted\\" \\u00e4 \\0 $!"
      - {id: red, run: exit 3, on_failure: echo sorry, allow_failure: true}
      - {id: missing, run: [no-such-program], allow_failure: true}
      - {id: killed, run: kill -9 $$, allow_failure: true}
      - {id: late, run: sleep 900, timeout: 20ms, stop: {grace: 0s}, allow_failure: true}
      - {id: no, if: "false", run: "true"}
      - id: waits
        wait_for: [{command: "test -e tried || { touch tried; exit 1; }", every: 10ms}]
        run: "true"
      - id: server
        run: exec sleep 900
        background: {ready: [{command: "true"}]}
      - {id: client, depends_on: [server], run: "true"}
      - {id: bad-hook, run: "true", on_success: exit 7}
      - {id: victim, depends_on: [bad-hook], run: "true"}
    on_complete: echo over
    """,
    """
    failure_policy: cancel
    steps:
      - {id: a, run: sleep 0.05; exit 1}
      - {id: b, run: sleep 900}
    """,
    """
    steps:
      - {id: red, run: test -e green}
      - {id: after, depends_on: [red], run: "true"}
      - id: hand
        run: |
          until oprun status "$OPRUN_RUN_ID" | grep -q 'red .*exit 1'; do sleep 0.02; done
          touch green
          oprun pause "$OPRUN_RUN_ID"
          oprun set "$OPRUN_RUN_ID" max_parallel=9 --queue default
          oprun set "$OPRUN_RUN_ID" priority=-1 hand
          oprun retry "$OPRUN_RUN_ID" red
          oprun continue "$OPRUN_RUN_ID"
          until oprun status "$OPRUN_RUN_ID" | grep -q '3/3\\|2/3'; do sleep 0.02; done
          oprun cancel "$OPRUN_RUN_ID"
          sleep 900
    """,
    "max_parallel: 0\nsteps: [{id: a, run: 'true'}]",
    """
    steps:
      - {id: mute, run: exec sleep 900, background: {ready: [{command: "false", timeout: 20ms}]}}
      - {id: client, depends_on: [mute], run: "true"}
    """,
    "timeout: 50ms\nsteps: [{id: a, run: sleep 900, on_cancel: exit 1}]\non_complete: exit 1",
  ]

  private func workspace(_ pipeline: String) throws -> Workspace {
    let workspace = try Workspace(named: "events", holding: [])
    try workspace.write(pipeline, to: "pipeline.yml")
    return workspace
  }

  @Test func `hold to the schema, and the page names every field`() throws {
    let streams = try Self.pipelines.map { pipeline in
      let place = try workspace(pipeline)
      let end = try place.run(
        "ulimit -n 40; oprun pipeline.yml --events events.ndjson >/dev/null",
        environment: ["TOKEN": "s3cret-token"])
      let file = place.folder.appending(path: "events.ndjson")
      let text = try String(contentsOf: file, encoding: .utf8)
      #expect(!text.contains("s3cret"), "\(end.errors)")
      return text
    }
    let place = try Workspace(named: "events", holding: [])
    try JSONEncoder().encode(streams)
      .write(to: place.folder.appending(path: "streams.json"))
    let checker = repository.appending(path: "Tests/Schema/event_streams.py").path
    let schema = repository.appending(path: "schema/events.schema.json").path
    let page = repository.appending(path: "docs/events.md").path
    let end = try place.run("python3 '\(checker)' '\(schema)' '\(page)' <streams.json")
    #expect(end.errors == "")
    #expect(
      end.output == """
        seen: command_ended command_started notice outputs_published processes_left run_changed \
        run_finished run_started run_stopping step_added step_finished step_planned step_ready \
        step_reopened step_resolved step_retrying step_waiting

        """)
  }

  @Test func `are whole though their reader stands still`() throws {
    let place = try workspace(
      "steps:\n" + (0..<2000).map { "  - {id: step-\($0), run: [\"true\"]}\n" }.joined())
    let end = try place.run(
      """
      mkfifo slow
      { until test -e over; do sleep 0.01; done; cat; } <slow >events.ndjson & reader=$!
      oprun pipeline.yml --output quiet --events slow & run=$!
      until test -e .oprun/runs/*/. ; do sleep 0.01; done
      until grep -q '^State:.S' /proc/$run/status && ! pgrep -P $run true >/dev/null; do sleep 0.05; done
      touch over; wait $run; echo $?; wait $reader; grep -c step_finished events.ndjson
      tail -n 1 events.ndjson | cut -d , -f 1,3-
      """)
    #expect(
      end.output == """
        0
        2000
        {"event":"run_finished","exit_status":0,"hook_failed":false}

        """, "\(end.errors)")
  }

  @Test func `that nobody reads any more hold nothing up`() throws {
    let place = try workspace(
      "steps:\n" + (0..<500).map { "  - {id: step-\($0), run: [\"true\"]}\n" }.joined())
    let end = try place.run(
      "oprun pipeline.yml --output quiet --events fd:7 7>&1 >/dev/null | head -n 1 | cut -c 1-23")
    #expect(end.output == "{\"event\":\"run_started\",\n")
    #expect(end.errors == "")
  }

  @Test func `that cannot be kept end the run with 74`() throws {
    let place = try workspace(Self.pipelines[1])
    let end = try place.run(
      """
      ulimit -f 1; trap '' XFSZ
      head -c 1024 /dev/zero | tr '\\0' '#' >>pipeline.yml
      oprun pipeline.yml --events events.ndjson
      """)
    #expect(end.status == 74)
    #expect(end.errors.contains("cannot write the events to 'events.ndjson'"), "\(end.errors)")
  }

  @Test func `are not written over by an oprun that a step starts`() throws {
    let place = try workspace(
      "steps: [{id: a, run: 'test -z \"${OPRUN_EVENTS-}\"'}]")
    let end = try place.run(
      "OPRUN_EVENTS=events.ndjson oprun pipeline.yml --output quiet; grep -c . events.ndjson")
    #expect(end.output == "6\n", "\(end.errors)")
  }
}
