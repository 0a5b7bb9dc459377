// By what the record of an unchanged run is found.

import Testing

@testable import Caching

struct RunKeyTests {
  private func place(_ command: [String], _ variables: [String: String]) -> String {
    RunKey(command: command, variables: variables, surroundings: []).place
  }

  @Test func `a command line has a record in each terminal`() {
    let one = place(["run", "a.yml"], ["PATH": "/bin", "TERMINAL": "1"])
    #expect(place(["run", "a.yml"], ["TERMINAL": "1", "PATH": "/bin"]) == one)
    #expect(place(["run", "a.yml"], ["PATH": "/bin", "TERMINAL": "2"]) != one)
    #expect(place(["run", "b.yml"], ["PATH": "/bin", "TERMINAL": "1"]) != one)
  }

  @Test func `a variable that always differs leaves sixteen records`() {
    let places = Set((0..<1000).map { place(["run", "a.yml"], ["TIME": "\($0)"]) })
    #expect(places.count == 16)
    #expect(Set(places.map { $0.prefix { $0 != "-" } }).count == 1)
  }
}
