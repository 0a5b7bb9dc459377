// A set of paths, which is used like one of strings, but compares bytes.

import Caching

struct PathSet: SetAlgebra, Sequence {
  private var names: Set<PathName> = []

  init() {}

  init(_ paths: some Sequence<String>) { names = Set(paths.lazy.map { PathName($0) }) }

  var isEmpty: Bool { names.isEmpty }
  var count: Int { names.count }

  func contains(_ path: String) -> Bool { names.contains(PathName(path)) }

  func makeIterator() -> some IteratorProtocol<String> { names.lazy.map(\.text).makeIterator() }

  func filter(_ isIncluded: (String) -> Bool) -> PathSet {
    var result = PathSet()
    result.names = names.filter { isIncluded($0.text) }
    return result
  }

  func sorted() -> [String] { names.map(\.text).sorted { $0.precedesByBytes($1) } }

  @discardableResult
  mutating func insert(_ path: String) -> (inserted: Bool, memberAfterInsert: String) {
    let (isNew, name) = names.insert(PathName(path))
    return (isNew, name.text)
  }

  @discardableResult
  mutating func remove(_ path: String) -> String? { names.remove(PathName(path))?.text }

  @discardableResult
  mutating func update(with path: String) -> String? { names.update(with: PathName(path))?.text }

  func union(_ other: PathSet) -> PathSet { with(other) { $0.formUnion($1) } }
  func intersection(_ other: PathSet) -> PathSet { with(other) { $0.formIntersection($1) } }
  func symmetricDifference(_ other: PathSet) -> PathSet {
    with(other) { $0.formSymmetricDifference($1) }
  }

  mutating func formUnion(_ other: PathSet) { names.formUnion(other.names) }
  mutating func formIntersection(_ other: PathSet) { names.formIntersection(other.names) }
  mutating func formSymmetricDifference(_ other: PathSet) {
    names.formSymmetricDifference(other.names)
  }

  mutating func formUnion(_ paths: some Sequence<String>) {
    for path in paths { insert(path) }
  }

  private func with(_ other: PathSet, _ body: (inout PathSet, PathSet) -> Void) -> PathSet {
    var result = self
    body(&result, other)
    return result
  }
}
