// Removes operations from a graph, so that a graph to which operations are appended for ever stays
// small.

extension Graph {
  /// Removes an operation and its edges; its id is reused for one that is appended later.
  ///
  /// An edge is in the lists of both its ends: it is cut off at this one, and its slot is free once
  /// it is cut off at both. Linear in the edges of the operation.
  mutating func remove(_ id: OperationID) {
    if nodes[id.index].lastOut != Graph.none { removeDependents(of: id) }
    removeDependencies(of: id)
    vacantIDs.append(id)
  }

  private mutating func removeDependents(of id: OperationID) {
    let last = nodes[id.index].lastOut
    var place = linksOut[Int(last)].next
    while true {
      let next = linksOut[Int(place)].next
      linksIn[Int(place)].end = Graph.none
      if linksOut[Int(place)].end == Graph.none { vacantLinks.append(place) }
      if place == last { break }
      place = next
    }
    nodes[id.index].lastOut = Graph.none
  }

  /// Removes the edges into an operation. Linear in their number.
  mutating func removeDependencies(of id: OperationID) {
    let last = nodes[id.index].lastIn
    if last == Graph.none { return }
    var place = linksIn[Int(last)].next
    while true {
      let next = linksIn[Int(place)].next
      linksOut[Int(place)].end = Graph.none
      if linksIn[Int(place)].end == Graph.none { vacantLinks.append(place) }
      if place == last { break }
      place = next
    }
    nodes[id.index].lastIn = Graph.none
  }

  /// Removes one edge; returns false if there is none. Linear in the edges into the dependent.
  mutating func removeEdge(from dependency: OperationID, to dependent: OperationID) -> Bool {
    let last = nodes[dependent.index].lastIn
    if last == Graph.none { return false }
    var previous = last
    repeat {
      let place = linksIn[Int(previous)].next
      if linksIn[Int(place)].end == dependency.rawValue {
        cutOff(place, after: previous, dependent)
        return true
      }
      previous = place
    } while previous != last
    return false
  }

  /// Cuts an edge off at its dependent. Its slot is free once the dependency is removed, too.
  private mutating func cutOff(_ place: Int32, after previous: Int32, _ dependent: OperationID) {
    linksIn[Int(previous)].next = linksIn[Int(place)].next
    if nodes[dependent.index].lastIn == place {
      nodes[dependent.index].lastIn = previous == place ? Graph.none : previous
    }
    linksOut[Int(place)].end = Graph.none
  }
}
