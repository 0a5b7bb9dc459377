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
    place = firstEdge(after: lastIn[id.index], { $0.nextIn })
    while place != Graph.none {
      let next = place == lastIn[id.index] ? Graph.none : links[Int(place)].nextIn
      links[Int(place)].to = Graph.none
      vacateIfCutOff(place)
      place = next
    }
    lastOut[id.index] = Graph.none
    lastIn[id.index] = Graph.none
    vacantIDs.append(id)
  }

  private func firstEdge(after last: Int32, _ next: (Link) -> Int32) -> Int32 {
    last == Graph.none ? last : next(links[Int(last)])
  }

  private mutating func vacateIfCutOff(_ place: Int32) {
    let link = links[Int(place)]
    if link.from == Graph.none, link.to == Graph.none { vacantLinks.append(place) }
  }
}
