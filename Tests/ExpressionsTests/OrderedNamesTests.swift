// Names in the order in which they were added: few are compared, many are hashed.

import Testing

@testable import Expressions

struct OrderedNamesTests {
  @Test(arguments: [0, 1, 8, 9, 40])
  func `each name has its place`(count: Int) {
    var names = OrderedNames()
    for number in 0..<count { names.append("name-\(number)") }
    let all = (0..<count).map { "name-\($0)" }
    #expect(names.all == all)
    #expect(all.map { names.place(of: $0) } == Array(0..<count))
    #expect(names.place(of: "name-\(count)") == nil)
    #expect(names == OrderedNames(all))
  }

  @Test(arguments: [2, 9])
  func `of equal names the first one is found`(count: Int) {
    let others = (2..<count).map { "\($0)" }
    #expect(OrderedNames(["a", "a"] + others).place(of: "a") == 0)
  }

  @Test(arguments: [0, 8])
  func `names that only look the same have places of their own`(others: Int) {
    var names = OrderedNames((0..<others).map { "\($0)" })
    names.append("\u{E9}")
    #expect(names.place(of: "e\u{301}") == nil)
    names.append("e\u{301}")
    #expect(names.place(of: "\u{E9}") == others)
    #expect(names.place(of: "e\u{301}") == others + 1)
  }
}
