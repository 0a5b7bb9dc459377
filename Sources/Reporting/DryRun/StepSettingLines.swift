// Everything that is set on a step besides its command, in the words of the file.

import Expressions
import Plans
import Scheduling

struct StepSettingLines {
  private let plan: Plan
  private let operation: OperationID
  private let settings: StepSettings
  private let late: LateStep?
  private let arrays: SlurmArrays

  init(plan: Plan, operation: OperationID, arrays: SlurmArrays) {
    self.arrays = arrays
    self.plan = plan
    self.operation = operation
    late = plan.steps[operation.index].late
    settings = plan.steps[operation.index].settings
  }

  /// One line for each setting that is not the default.
  var lines: [String] {
    var lines: [String] = []
    func add(_ key: String, _ value: String?) {
      if let value { lines.append("\(key): \(value)") }
    }
    func addHooks() {
      for kind in HookKind.allCases {
        for hook in settings.hooks[kind] { add(kind.key, shown(hook)) }
      }
    }
    let spec = plan.graph[operation]
    add("name", settings.name)
    add("description", (plan.remarks[operation]?.description).map(joinedLines))
    add("if", (late?.condition).map(joinedLines))
    for target in late?.probes ?? [] { add("wait_for", target) }
    for target in late?.readiness ?? [] { add("ready", target) }
    if plan.standsForOthers(operation) {
      add("timeout", plan.groups[operation]?.timeout.map(exactDuration))
      add("allow_failure", plan.groups[operation]?.allowsFailure == true ? "true" : nil)
      add("max_parallel", plan.groups[operation]?.width.map { "\($0)" })
      if let policy = plan.groups[operation]?.failurePolicy, policy != .continue {
        add("failure_policy", "\(policy)")
      }
      addHooks()
      return lines
    }
    add("working_dir", settings.workingDirectory)
    add("env", environment)
    add("shell", shell)
    if spec.expected != 0 { add("expected", spec.expected.map(exactDuration)) }
    add("timeout", settings.timeout.map(exactDuration))
    add("retry", retry)
    add("allow_failure", allowFailure)
    add("takes", claims(spec.claims.filter { plan.slurm?.pools[$0.pool] == nil }))
    add("sbatch", settings.slurm.map { options(of: $0, claiming: spec.claims) })
    add("nice", settings.nice == 0 ? nil : String(settings.nice))
    add("tty", settings.usesTerminal ? "true" : nil)
    add("untrusted_output", settings.hasUntrustedOutput ? "true" : nil)
    add("cache", settings.cache.map(shown))
    add("jobserver", settings.sharesJobs.map { $0 ? "true" : "false" })
    addHooks()
    return lines
  }

  private func options(of request: SlurmRequest, claiming claims: [Claim]) -> String {
    let request = plan.slurm?.request(request, claiming: claims) ?? request
    let nice = max(
      0, Int(plan.slurm?.highestPriority ?? 0) - Int(plan.graph.priority(of: operation)))
    let words =
      (arrays.option(of: operation).map { [$0] } ?? []) + (nice > 0 ? ["--nice=\(nice)"] : [])
    return (words + request.options).map(shellQuoted).joined(separator: " ")
  }

  private func shown(_ cache: CacheSettings) -> String {
    let lists = [
      ("inputs", cache.inputs), ("outputs", cache.outputs), ("scratch", cache.scratch),
      ("env", cache.environment), ("tools", cache.tools),
    ]
    var words = lists.filter { $0.0 == "inputs" || !$0.1.isEmpty }.map {
      "\($0.0) " + ($0.1.isEmpty ? "none" : $0.1.joined(separator: " "))
    }
    if !cache.isEnforced { words.append("not enforced") }
    return words.joined(separator: ", ")
  }

  private func shown(_ hook: HookCommand) -> String? {
    guard hook.timeout != HookCommand.defaultTimeout else { return hook.work.shown?.text }
    return hook.work.shown.map { "\($0.text) (timeout \(exactDuration(hook.timeout)))" }
  }

  private var environment: String? {
    let known = settings.environment.map { "\($0.name)=\(shellQuoted($0.value))" }
    let late = (late?.variables ?? []).map { "\($0.name)=\($0.value)" }
    return known.isEmpty && late.isEmpty ? nil : (known + late).joined(separator: " ")
  }

  private var shell: String? {
    guard plan.steps[operation.index].work.shown?.script != nil,
      settings.shell != StepSettings.defaultShell
    else { return nil }
    return settings.shell.map(shellQuoted).joined(separator: " ")
  }

  private var retry: String? {
    guard settings.retry.limit > 0 else { return nil }
    let delay = settings.retry.delay
    return "\(settings.retry.limit)" + (delay > 0 ? ", after \(exactDuration(delay))" : "")
  }

  private var allowFailure: String? {
    switch settings.allowFailure {
    case .never: late?.allowance
    case .always: "true"
    case .exitCodes(let codes): "exit " + codes.map(String.init).joined(separator: ", ")
    }
  }

  private func claims(_ claims: [Claim]) -> String? {
    guard !claims.isEmpty else { return nil }
    return claims.map { claim in
      let pool = plan.pools[claim.pool.index]
      let name = pool.isGranted ? "\(pool.name) (of the host)" : pool.name
      return claim.amount == 1_000_000 ? name : "\(millionths(claim.amount)) \(name)"
    }.joined(separator: ", ")
  }

  /// An amount in decimal: `0.5` for 500,000.
  private func millionths(_ amount: Int64) -> String {
    let fraction = String(1_000_000 + amount % 1_000_000).dropFirst()
    let digits = fraction.reversed().drop { $0 == "0" }.reversed()
    return String(amount / 1_000_000) + (digits.isEmpty ? "" : "." + String(digits))
  }
}
