// How words become the inputs of a step, and the messages about wrong ones.

import BuiltinSteps
import TestSupport
import Testing

@testable import oprun_steps

private func inputs(_ words: String..., environment: [String: String] = [:]) throws -> Inputs {
  switch try Request(words, environment: { environment[$0] }) {
  case .perform(let inputs): return inputs
  default: throw UsageFailure("no step")
  }
}

private func fault(_ words: String..., environment: [String: String] = [:]) -> String {
  do throws(UsageFailure) {
    _ = try Request(words, environment: { environment[$0] })
    return "none"
  } catch { return error.text }
}

@Suite(.blocking) struct InputTests {
  @Test func `options are keys of the table, with dashes or underscores`() throws {
    let inputs = try inputs(
      "download", "--url", "http://a/b", "--to=out/", "--max-parallel=3", "--max_age", "1h30m",
      "--headers=Accept: image/*", "--headers", "X-Key:  a:b ", "--resume=false", "--cache",
      "--max-bytes=2M")
    #expect(inputs.text("url") == "http://a/b")
    #expect(inputs.integer("max_parallel") == 3)
    #expect(inputs.duration("max_age") == 5_400_000_000_000)
    #expect(inputs.size("max_bytes") == 2 << 20)
    #expect(!inputs.isOn("resume"))
    #expect(inputs.isOn("cache"))
    #expect(inputs.pairs("headers").map(\.name) == ["Accept", "X-Key"])
    #expect(inputs.pairs("headers").map(\.value) == ["image/*", "a:b"])
  }

  @Test func `every default of every table is what its key wants`() {
    for step in Request.steps {
      for key in step.keys {
        if let text = key.defaultValue { #expect(key.type.value(of: text) != nil) }
      }
      #expect(Set(step.keys.map(\.name)).count == step.keys.count)
      for group in step.groups { #expect(group.keys.allSatisfy { step.key($0) != nil }) }
    }
  }

  @Test func `a value can come from the environment`() throws {
    let inputs = try inputs(
      "download", "--url=http://a", "--to=b", "--with-env=headers=SECRET",
      environment: ["SECRET": "Authorization: Bearer x"])
    #expect(inputs.pairs("headers").map(\.value) == ["Bearer x"])
  }

  @Test func `what cannot be sent as a header is refused`() {
    func fault(_ header: String) -> String {
      oprunStepsTests.fault("download", "--url=http://a", "--to=b", "--headers=\(header)")
    }
    #expect(
      fault("my secret: x") == """
        oprun-steps: 'headers' wants 'Name: value', found '***'
          help: a name has no spaces and no colon: 'X-Key: value'
        try 'oprun-steps download --help'

        """)
    #expect(
      fault("X-Key: a\nb") == """
        oprun-steps: 'headers' wants 'Name: value', found 'X-Key: ***'
          help: a value is a single line
        try 'oprun-steps download --help'

        """)
    #expect(fault("X-Key: a") == "none")
  }

  @Test func `what is no list is given once`() {
    #expect(
      fault("download", "--url=http://a/1", "--url=http://a/2", "--to=b/") == """
        oprun-steps: '--url' is given twice
          help: '--urls' takes several
        try 'oprun-steps download --help'

        """)
    #expect(
      fault("download", "--url=http://a/1", "--to=b/", "--cache", "--cache=false") == """
        oprun-steps: '--cache' is given twice
        try 'oprun-steps download --help'

        """)
  }

  @Test func `what is wrong is said with what was wanted`() {
    #expect(
      fault("downlaod") == """
        oprun-steps: unknown step 'downlaod'
          help: did you mean 'download'?
        try 'oprun-steps --help'

        """)
    #expect(
      fault("download", "--max-paralel=3") == """
        oprun-steps: unknown option '--max-paralel'
          help: did you mean '--max-parallel'?
        try 'oprun-steps download --help'

        """)
    #expect(
      fault("download", "--retries", "many") == """
        oprun-steps: '--retries' wants a whole number from 0 to 100, found 'many'
        try 'oprun-steps download --help'

        """)
    #expect(
      fault("download", "--url=http://a", "--list=b", "--to=c") == """
        oprun-steps: only one of 'url', 'urls' or 'list' can be given, found 'url' and 'list'
        try 'oprun-steps download --help'

        """)
    #expect(
      fault("download", "--url=http://a") == """
        oprun-steps: '--to' is required: a string
        try 'oprun-steps download --help'

        """)
  }
}
