// Taking operations out of a graph, so that one that is appended to for ever stays small.

extension Graph {
  /// Takes out an operation and its edges; its id goes to one that is appended later.
  ///
  /// An edge has two ends and is in the lists of both: it is cut off at this one, and its place is
  /// free once it is cut off at both. Linear in the edges of the operation.
  mutating func remove(_ id: OperationID) {
    var place = firstEdge(after: lastOut[id.index], { $0.nextOut })
    while place != Graph.none {
      let next = place == lastOut[id.index] ? Graph.none : links[Int(place)].nextOut
      links[Int(place)].from = Graph.none
      vacateIfCutOff(place)
      place = next
    }
    lastOut[id.index] = Graph.none
    removeDependencies(of: id)
    vacantIDs.append(id)
  }

  /// Takes out the edges into an operation. Linear in them.
  mutating func removeDependencies(of id: OperationID) {
    var place = firstEdge(after: lastIn[id.index], { $0.nextIn })
    while place != Graph.none {
      let next = place == lastIn[id.index] ? Graph.none : links[Int(place)].nextIn
      links[Int(place)].to = Graph.none
      vacateIfCutOff(place)
      place = next
    }
    lastIn[id.index] = Graph.none
  }

  /// Takes out one edge; false if there is none. Linear in the edges into the dependent.
  mutating func removeEdge(from dependency: OperationID, to dependent: OperationID) -> Bool {
    let last = lastIn[dependent.index]
    if last == Graph.none { return false }
    var previous = last
    repeat {
      let place = links[Int(previous)].nextIn
      if links[Int(place)].from == dependency.rawValue {
        cutOff(place, after: previous, dependent)
        return true
      }
      previous = place
    } while previous != last
    return false
  }

  /// The place is free once the dependency is removed too.
  private mutating func cutOff(_ place: Int32, after previous: Int32, _ dependent: OperationID) {
    links[Int(previous)].nextIn = links[Int(place)].nextIn
    if lastIn[dependent.index] == place {
      lastIn[dependent.index] = previous == place ? Graph.none : previous
    }
    links[Int(place)].to = Graph.none
  }

  private func firstEdge(after last: Int32, _ next: (Link) -> Int32) -> Int32 {
    last == Graph.none ? last : next(links[Int(last)])
  }

  private mutating func vacateIfCutOff(_ place: Int32) {
    let link = links[Int(place)]
    if link.from == Graph.none, link.to == Graph.none { vacantLinks.append(place) }
  }
}
