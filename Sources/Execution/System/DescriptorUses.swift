// The descriptors that a run opens beside those of its commands, because of the content of its
// plan.

import Caching
import Plans
import Scheduling

/// The descriptors of parts that not every run has.
struct DescriptorUses {
  /// Ends of the pipes to processes of the cache, files of the cache, and those for starting such a process.
  var ofCache = 0
  /// Pipes from processes that hash files, and those for starting such a process.
  var ofHashing = 0
  var ofHostMutexes = 0
  /// True if commands are confined, for which the list of mounts is kept open.
  var confines = false

  /// The number of all these descriptors; one is the list of mounts.
  var count: Int { ofCache + ofHashing + ofHostMutexes + (confines ? 1 : 0) }
}

extension DescriptorUses {
  init(_ plan: Plan, _ options: RunOptions) {
    if let cache = options.cache {
      let processes = CacheJobs.slotCount(
        RunCache.width(processorCount: options.host.processorCount), fetches: cache.readsShared,
        stores: cache.writesShared)
      // The lock, the index, and the pipe to a process that is being started.
      ofCache = 2 * processes + 4
    }
    if plan.steps.contains(where: { $0.late?.parts.looksAtFiles == true }) {
      ofHashing = FileHashing.width + 1
    }
    let mutexes = plan.pools.count(where: \.isGranted)
    if mutexes > 0 { ofHostMutexes = 1 + 2 * mutexes }
    confines = plan.steps.contains { $0.settings.cache?.isEnforced == true }
  }
}
