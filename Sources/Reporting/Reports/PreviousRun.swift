// The previous run of the same pipeline, with which a report compares.

package import Scheduling

/// The facts about the previous run that a report shows.
package struct PreviousRun: Sendable {
  package struct Step: Sendable {
    let id: String
    let ending: Ending
    /// The duration; nil if the step did not start.
    let duration: Nanoseconds?

    package init(id: String, ending: Ending, duration: Nanoseconds?) {
      self.id = id
      self.ending = ending
      self.duration = duration
    }
  }

  let name: String
  /// The time at which the run started, since 1970.
  let started: Nanoseconds
  let wallTime: Nanoseconds
  let exitStatus: Int
  let steps: [Step]

  package init(
    name: String, times: (started: Nanoseconds, duration: Nanoseconds), exitStatus: Int,
    steps: [Step]
  ) {
    self.name = name
    started = times.started
    wallTime = times.duration
    self.exitStatus = exitStatus
    self.steps = steps
  }
}
