// The slots that a run shares with make and other tools: the loop exchanges tokens with the pool
// when all decisions that are possible have been made. docs/design-execution.md, “Sharing slots”.

import Diagnostics
import Plans
import RunFiles
import Running
import Scheduling

extension RunLoop {
  /// Takes a token if something could start with one more slot, or gives back tokens that are not
  /// needed. True if the machine may have new actions.
  func shareSlots(at time: Nanoseconds) -> Bool {
    guard let jobs else { return false }
    if jobs.resize(to: machine.widthOfDefaultQueue()) { return grantSlots(jobs, at: time) }
    guard machine.lacksGrant() else {
      watch(jobs, false)
      return jobs.giveSurplus(inUse: machine.slotsInUse()) && grantSlots(jobs, at: time)
    }
    if jobs.take() { return grantSlots(jobs, at: time) }
    watch(jobs, true)
    return false
  }

  private func grantSlots(_ jobs: JobSlots, at time: Nanoseconds) -> Bool {
    machine.grant(jobs.tokens.slots, at: time)
    return true
  }

  /// Starts or stops watching the pool. Another process may take a token as soon as there is one,
  /// so this may wake the loop without effect.
  private func watch(_ jobs: JobSlots, _ isOn: Bool) {
    guard isOn != jobs.isWatched else { return }
    if isOn {
      do throws(SystemError) {
        try waiting.add(jobs.number, for: .jobs, number: 0)
      } catch {
        return tell(.notice("cannot wait for a job slot: \(error.message)"), at: now)
      }
    } else {
      waiting.remove(jobs.number)
    }
    jobs.isWatched = isOn
  }

  func jobEnded(_ key: CommandKey, at time: Nanoseconds) {
    guard let jobs, jobs.ended(key) else { return }
    machine.grant(jobs.tokens.slots, at: time)
  }

  /// Gives all tokens back that oprun has taken from the pool.
  func closeJobs() {
    guard let jobs else { return }
    watch(jobs, false)
    _ = jobs.giveSurplus(inUse: 0)
    if jobs.tokens.size != nil { options.directory.remove(RunDirectory.jobserverName) }
  }
}

extension JobSlots {
  /// The result of opening the jobserver.
  struct Opened {
    var slots: JobSlots?
    /// A notice for the user.
    var notice: String?
  }

  /// Opens the jobserver that a run uses, if it uses one.
  static func open(
    for plan: Plan, _ options: RunOptions, _ folder: String
  ) throws(SystemError) -> Opened {
    let jobs = options.jobs
    if jobs.isOn == false { return Opened() }
    if jobs.usesInherited, case .usable(let address) = jobs.inherited.state,
      let slots = try? JobSlots(at: address, flags: jobs.inherited.flags)
    {
      return Opened(slots: slots)
    }
    var opened = Opened(notice: notice(about: jobs))
    guard jobs.isOn == true || plan.sharesJobs else { return opened }
    opened.slots = try JobSlots(
      width: plan.queues[QueueID.default.index].width, in: options.directory, folder,
      sharesByDefault: jobs.isOn == true, inherited: jobs.inherited.flags)
    return opened
  }

  private static func notice(about jobs: JobOptions) -> String? {
    if jobs.inherited.state == .absent { return nil }
    if jobs.inherited.isUsable, jobs.hasOwnWidth {
      return
        "the run does not share the job slots of the make that started oprun, because of --jobs"
    }
    return
      "the job slots of the make that started oprun are not available: begin its recipe line with '+'"
  }
}

extension Plan {
  /// True if a step says that it shares slots.
  fileprivate var sharesJobs: Bool {
    var last: StepSettings?
    return steps.contains { step in
      if step.settings === last { return false }
      last = step.settings
      return step.settings.sharesJobs == true
    }
  }
}
