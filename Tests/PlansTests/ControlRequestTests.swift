// Requests as clients write them that are not oprun.

import Plans
import Testing

@Suite struct `A request to a run` {
  private func read(_ fields: String) -> Result<ControlRequest, ControlFailure> {
    let line = "{\"protocol\":1,\(fields)}"
    return Result { () throws(ControlFailure) in
      try ControlRequest(line: Array(line.utf8)[...], program: "0")
    }
  }

  @Test func `may have fields that the run does not know`() throws {
    var expected = ControlRequest(.cancel)
    expected.step = "a"
    #expect(try read("\"request\":\"cancel\",\"step\":\"a\",\"later\":[null]").get() == expected)
  }

  @Test func `is what its line says`() throws {
    for verb in ControlRequest.Verb.allCases {
      var request = ControlRequest(verb)
      request.queue = "q"
      request.step = "a \"b\""
      request.maxParallel = 0
      request.priority = -1000
      request.isWhole = true
      request.follows = true
      let line = Array(request.line.utf8.dropLast())[...]
      #expect(try ControlRequest(line: line, program: "0") == request)
    }
  }

  @Test(arguments: [
    ("\"request\":\"cancel\",\"step\":[\"a\"]", "'step' wants a string, found a list"),
    ("\"request\":\"cancel\",\"step\":5", "'step' wants a string, found 5"),
    ("\"request\":\"cancel\",\"step\":null", "'step' wants a string, found null"),
    ("\"request\":\"cancel\",\"queue\":7", "'queue' wants a string, found 7"),
    ("\"request\":\"pause\",\"queue\":[\"q\"]", "'queue' wants a string, found a list"),
    ("\"request\":[\"pause\"]", "'request' wants a string, found a list"),
    ("\"request\":\"status\",\"follow\":1", "'follow' wants true or false, found 1"),
    (
      "\"request\":\"set\",\"max_parallel\":1.5",
      "'max_parallel' wants a whole number, found 1.5"
    ),
    (
      "\"request\":\"set\",\"max_parallel\":1e99",
      "'max_parallel' wants a whole number, found 1e+99"
    ),
    (
      "\"request\":\"set\",\"max_parallel\":1e18",
      "'max_parallel' wants a number from 0 to 9007199254740991, found 1000000000000000000"
    ),
    ("\"request\":\"set\",\"priority\":\"9\"", "'priority' wants a whole number, found a string"),
    (
      "\"request\":\"set\",\"max_parallel\":9223372036854775807",
      "the request is not JSON: a number too large to be represented exactly at byte 46"
    ),
  ])
  func `with a field of another type is refused`(fields: String, message: String) {
    #expect(read(fields) == .failure(ControlFailure(message)))
  }

  @Test(arguments: [
    ("", "the request is not JSON: a value is missing at byte 1"),
    ("cancel", "the request is not JSON: a value is missing at byte 1"),
    ("[]", "the request must be a JSON object, found a list"),
    ("{}", "the request has no version: 'protocol' is missing"),
  ])
  func `that is none is refused`(line: String, message: String) {
    #expect(throws: ControlFailure(message)) {
      try ControlRequest(line: Array(line.utf8)[...], program: "0")
    }
  }
}
