// Where commands are that do not run here.

import Plans
import Scheduling

extension RunRecorder {
  /// Records where a command is when it has a node, and not each reason for which it waits.
  func note(_ place: CommandPlacement, of operation: OperationID, _ role: CommandRole) {
    hasPlaces = true
    let place = place.following(open[operation]?.place)
    open[operation]?.place = place
    open[operation]?.placedRole = role
    if place.node != nil { pending.append(.placed(name(of: operation), role, place)) }
  }

  /// Records where a command was that never had a node.
  func notePlace(ofEnded operation: OperationID) {
    guard hasPlaces, let place = open[operation]?.place, let role = open[operation]?.placedRole
    else { return }
    if place.node == nil { pending.append(.placed(name(of: operation), role, place)) }
    open[operation]?.place = nil
  }
}
