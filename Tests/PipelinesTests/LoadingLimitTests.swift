// Limits of how many files a pipeline may consist of, how deep they may be nested, and how large
// they may be together: a violation is refused with the location that causes it.

import Diagnostics
import Pipelines
import Plans
import Testing

struct LoadingLimitTests {
  /// The errors of a pipeline whose other files are made when they are read.
  private func errors(
    _ text: String, _ file: @escaping @Sendable (String) -> [UInt8]?
  ) -> String {
    var options = PlanningOptions()
    options.files = PipelineFiles { path, _ in .success(file(path)) }
    return switch planned(Array(text.utf8), options) {
    case .plan: "no errors"
    case .errors(let text), .noSelection(let text), .badParameters(let text): text
    }
  }

  private func uses(_ count: Int) -> String {
    "steps:\n" + (1...count).map { "  - {id: s\($0), uses: ./\($0).yml}\n" }.joined()
  }

  private static let step = Array("steps: [{id: a, run: echo}]\n".utf8)

  @Test func `a thousand files are read, the next one is refused`() {
    #expect(errors(uses(999)) { _ in Self.step } == "no errors")
    #expect(
      errors(uses(1000)) { _ in Self.step } == """
        pipeline.yml:1001:23: error: more than 1000 files, 64 MiB of them or 32 levels, which is the limit
         1001 |   - {id: s1000, uses: ./1000.yml}
              |                       ^~~~~~~~~~
        pipeline.yml: 1 error

        """)
  }

  @Test func `the same file counts once, however often it is used`() {
    let text =
      "steps:\n" + (1...2000).map { "  - {id: s\($0), uses: ./one.yml}\n" }.joined()
    #expect(errors(text) { _ in Self.step } == "no errors")
  }

  @Test func `thirty-two levels of files are read, the next one is refused`() {
    func chain(_ depth: Int) -> @Sendable (String) -> [UInt8]? {
      { path in
        let level = Int(path.dropLast(4)) ?? 0
        return level == depth
          ? Self.step : Array("steps: [{id: n, uses: ./\(level + 1).yml}]\n".utf8)
      }
    }
    #expect(errors("steps: [{id: n, uses: ./1.yml}]\n", chain(32)) == "no errors")
    #expect(
      errors("steps: [{id: n, uses: ./1.yml}]\n", chain(33)) == """
        32.yml:1:23: error: more than 1000 files, 64 MiB of them or 32 levels, which is the limit
         1 | steps: [{id: n, uses: ./33.yml}]
           |                       ^~~~~~~~
        pipeline.yml: 1 error

        """)
  }

  @Test func `sixty-four levels of pipelines are read, whoever uses them, the next one is refused`()
  {
    func chain(_ count: Int, isReversed: Bool = false) -> String {
      var sections = (1..<count).map { level in
        let action = level == count - 1 ? "run: echo" : "uses: '#p\(level + 1)'"
        return "  p\(level): {steps: [{id: s, \(action)}]}\n"
      }
      if isReversed { sections.reverse() }
      return "pipelines:\n" + sections.joined()
    }
    let step = "steps: [{id: s, uses: '#p1'}]\n"
    #expect(errors(chain(64) + step) { _ in nil } == "no errors")
    #expect(errors(chain(64, isReversed: true) + step) { _ in nil } == "no errors")
    #expect(
      errors(chain(65) + step) { _ in nil } == """
        pipeline.yml:64:31: error: more than 64 levels of pipelines and groups in each other, which is the limit
         64 |   p63: {steps: [{id: s, uses: '#p64'}]}
            |                               ^~~~~~
        pipeline.yml: 1 error

        """)
    for text in [chain(65, isReversed: true) + step, chain(9000) + "steps: [{id: s, run: echo}]\n"]
    {
      let found = errors(text) { _ in nil }
      #expect(found.contains("more than 64 levels"))
      #expect(found.hasSuffix("pipeline.yml: 1 error\n"))
    }
  }

  @Test func `included files have the same limit of levels`() {
    let chain: @Sendable (String) -> [UInt8]? = { path in
      Array("include: [\((Int(path.dropLast(4)) ?? 0) + 1).yml]\n".utf8)
    }
    #expect(
      errors("include: [1.yml]\n", chain) == """
        32.yml:1:11: error: more than 1000 files, 64 MiB of them or 32 levels, which is the limit
         1 | include: [33.yml]
           |           ^~~~~~
        pipeline.yml: 1 error

        """)
  }

  @Test func `beyond 64 MiB nothing more is read`() {
    let half = Self.step + [UInt8](repeating: UInt8(ascii: "\n"), count: 33 << 20)
    #expect(
      errors(uses(3)) { _ in half } == """
        pipeline.yml:4:20: error: more than 1000 files, 64 MiB of them or 32 levels, which is the limit
         4 |   - {id: s3, uses: ./3.yml}
           |                    ^~~~~~~
        pipeline.yml: 1 error

        """)
  }

  @Test func `files of variables count, also those that are not there`() {
    func dotenv(_ count: Int) -> String {
      "dotenv:\n" + (1...count).map { "  - v\($0).env?\n" }.joined()
        + "steps: [{id: a, run: echo}]\n"
    }
    #expect(errors(dotenv(999)) { _ in nil } == "no errors")
    #expect(
      errors(dotenv(1000)) { _ in nil } == """
        pipeline.yml:1001:5: error: more than 1000 files, 64 MiB of them or 32 levels, which is the limit
         1001 |   - v1000.env?
              |     ^~~~~~~~~~
        pipeline.yml: 1 error

        """)
  }

  @Test func `a file of variables that is named again and again is no way around 64 MiB`() {
    let names = [String](repeating: "a.env", count: 10).joined(separator: ", ")
    let variables = Array("A=".utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: 1_000_000)
    let blank = String(repeating: "\n", count: 60 << 20)
    #expect(
      errors("dotenv: [\(names)]\nsteps: [{id: a, run: echo}]\n\(blank)") { _ in variables } == """
        pipeline.yml:1:45: error: more than 1000 files, 64 MiB of them or 32 levels, which is the limit
         1 | dotenv: [a.env, a.env, a.env, a.env, a.env, a.env, a.env, a.env, a.env, a.env]
           |                                             ^~~~~
        pipeline.yml: 1 error

        """)
  }

  @Test func `steps that use files are counted before anything is made of them`() {
    let text =
      "steps:\n" + (1...10_001).map { "  - {id: s\($0), uses: ./one.yml}\n" }.joined()
    #expect(
      errors(text) { _ in Self.step } == """
        pipeline.yml:10002:24: error: more than 10,000 groups and uses of pipelines, which is the limit
         10002 |   - {id: s10001, uses: ./one.yml}
               |                        ^~~~~~~~~
        pipeline.yml: 1 error

        """)
  }

  @Test func `ten thousand uses are within the limit`() {
    let text =
      "steps:\n" + (1...10_000).map { "  - {id: s\($0), uses: ./one.yml}\n" }.joined()
    #expect(errors(text) { _ in Self.step } == "no errors")
  }

  @Test func `20,000 inputs of a nested pipeline`() {
    let names = (0..<20_000).map { "p\($0): 1" }.joined(separator: ", ")
    let nested = Array("params: {\(names)}\nsteps: [{id: a, run: echo}]\n".utf8)
    let text = "steps: [{id: n, uses: ./one.yml, with: {\(names)}}]\n"
    #expect(errors(text) { _ in nested } == "no errors")
  }

  @Test func `uses count over all files`() {
    let many = "steps:\n" + (1...6000).map { "  - {id: s\($0), uses: ./leaf.yml}\n" }.joined()
    let shown = errors("steps: [{id: a, uses: ./one.yml}, {id: b, uses: ./two.yml}]\n") { path in
      path == "leaf.yml" ? Self.step : Array(many.utf8)
    }
    #expect(
      shown == """
        two.yml:4000:23: error: more than 10,000 groups and uses of pipelines, which is the limit
         4000 |   - {id: s3999, uses: ./leaf.yml}
              |                       ^~~~~~~~~~
        pipeline.yml: 1 error

        """)
  }
}
