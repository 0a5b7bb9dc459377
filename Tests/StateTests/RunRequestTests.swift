// Tests what a database keeps of a request.

import Plans
import Testing

@testable import State

@Suite struct RunRequestTests {
  private func returned(_ request: RunRequest) -> RunRequest {
    RunRequest(file: request.file, json: request.json { $0 == "hunter2" })
  }

  @Test func `a request comes back with everything that it has`() {
    let request = RunRequest(
      file: "p.yml", parameters: [ParameterArgument(name: "a", value: "1")], steps: ["x"], jobs: 3,
      executor: .slurm)
    #expect(returned(request) == request)
    let plain = RunRequest(file: "p.yml", parameters: [], steps: [])
    #expect(returned(plain) == plain)
  }

  @Test func `an executor that is not known here is left to the file`() {
    #expect(RunRequest(file: nil, json: #"{"executor":"moon"}"#).executor == nil)
  }
}
