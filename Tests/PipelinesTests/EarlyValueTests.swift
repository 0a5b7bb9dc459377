import Diagnostics
import Plans
import Scheduling
import Testing

@testable import Pipelines

/// Expressions in limits, widths, shares and priorities.
struct EarlyValueTests {
  @Test func `each instance has values of its own, and own ones win over defaults`() {
    #expect(
      described(
        """
        params: {minutes: 10, width: 4, many: 2, lane: fast}
        vars: {usual: 90s, share: {small: 0.5, large: 8}}
        max_parallel: ${{ params.width }}
        timeout: ${{ params.minutes }}m
        queues: {fast: {max_parallel: "${{ params.many }}"}, small: {}, large: {max_parallel: 1}}
        resources: {memory: "${{ vars.share.large }}", cpu: 2}
        defaults:
          {queue: "${{ params.lane }}", retry: 3, timeout: 1s, priority: "${{ params.many }}", resources: {cpu: 1}}
        steps:
          - {id: a, run: a, timeout: "${{ vars.usual }}", retry: "${{ params.many }}"}
          - {id: b, run: b, queue: small, priority: low, resources: {}, retry: 0, timeout: 2s}
          - id: c
            run: c
            matrix: {size: [small, large]}
            max_parallel: ${{ params.many }}
            queue: ${{ matrix.size }}
            priority: "${{ matrix.size == 'small' ? 'high' : -3 }}"
            expected: "${{ matrix.size == 'small' ? '1m' : '1h' }}"
            timeout: "${{ matrix.size == 'small' ? '2m' : '2h' }}"
            resources: {memory: "${{ vars.share[matrix.size] }}", cpu: 1}
            retry: {limit: "${{ matrix.size == 'small' ? 1 : 5 }}", delay: 1s}
        """) == """
          default 4, fast 2, small 2, large 1, all of it 600s
          a: fast, priority 2, cpu 1.0, timeout 90s, retry 2
          b: small, priority -4, timeout 2s
          c[size=small]: small, priority 4, cpu 1.0, memory 0.5, c.max_parallel 1.0, timeout 120s, retry 1 after 1s, expected 60s
          c[size=large]: large, priority -3, cpu 1.0, memory 8.0, c.max_parallel 1.0, timeout 7200s, retry 5 after 1s, expected 3600s
          c: default, priority -1024, expected 0s

          """)
  }

  @Test func `what is known only when a run begins is no fault of the file`() {
    var options = PlanningOptions(processorCount: 2)
    options.demandsAllParameters = false
    #expect(
      described(
        """
        params: {t: {required: true}, n: {type: int, required: true}, q: {required: true}}
        max_parallel: ${{ params.n }}
        timeout: ${{ env.LIMIT }}
        queues: {q: {max_parallel: "${{ params.n }}"}}
        resources: {m: "${{ params.n }}"}
        vars: {t: "${{ params.t }}s", q: "${{ params.q }}"}
        steps:
          - {id: a, run: a, timeout: "${{ vars.t }}", queue: "${{ vars.q }}", resources: {m: 3}}
          - {id: b, uses: '#p', with: {t: "${{ params.t }}"}, timeout: "${{ params.t }}"}
        pipelines:
          p:
            params: {t: {required: true}}
            max_parallel: ${{ params.t }}
            steps: [{id: s, run: s, timeout: "${{ params.t }}", retry: "${{ params.n }}"}]
        """, options) == """
          default 2, q 2
          a: default
          b/s: default, b.max_parallel 1.0
          b: default, priority -1024, expected 0s

          """)
  }

  @Test func `a share may be a size or a duration`() {
    #expect(
      described(
        """
        params: {m: 2G, t: 1h30m}
        resources: {mem: 8G, gb: 4096, time: 4h}
        steps:
          - {id: a, run: a, resources: {mem: "${{ params.m }}", time: "${{ params.t }}"}}
          - {id: b, run: b, matrix: {size: [1]}, resources: {mem: "${{ matrix.size }}G"}}
          - {id: c, run: c, resources: {mem: 2G, time: 90m}}
        """) == """
          default 2
          a: default, mem 2.0, time 1.5
          b[size=1]: default, mem 1.0
          b: default, priority -1024, expected 0s
          c: default, mem 2.0, time 1.5

          """)
  }
}

private func described(
  _ text: String, _ options: PlanningOptions = PlanningOptions(processorCount: 2)
) -> String {
  switch planned(Array(text.utf8), options) {
  case .plan(let plan): plan.limits
  case .errors(let text), .badParameters(let text), .noSelection(let text): text
  }
}

extension Plan {
  /// The queues, and what each operation asks for.
  fileprivate var limits: String {
    let whole = timeout.map { ["all of it \($0 / 1_000_000_000)s"] } ?? []
    let lanes = queues.map { "\($0.name) \($0.width)" } + whole
    let lines = steps.indices.map { steps[$0].id + ": " + limits(of: OperationID($0)) }
    return ([lanes.joined(separator: ", ")] + lines).map { $0 + "\n" }.joined()
  }

  private func limits(of operation: OperationID) -> String {
    let spec = graph[operation]
    let settings = steps[operation.index].settings
    var parts = [queues[spec.queue.index].name]
    if spec.priority != 0 { parts.append("priority \(spec.priority)") }
    parts += spec.claims.map { claim in
      "\(pools[claim.pool.index].name) \(Double(claim.amount) / 1_000_000)"
    }.sorted { left, right in left < right && !left.contains(".max_parallel") }
    if let limit = settings.timeout { parts.append("timeout \(limit / 1_000_000_000)s") }
    if settings.retry.limit > 0 {
      let delay = settings.retry.delay / 1_000_000_000
      parts.append("retry \(settings.retry.limit)" + (delay > 0 ? " after \(delay)s" : ""))
    }
    if let expected = spec.expected { parts.append("expected \(expected / 1_000_000_000)s") }
    return parts.joined(separator: ", ")
  }
}
