// `cache stat` and `cache clear`: show what the cache contains, and empty it.

import BuiltinSteps
import Diagnostics

extension Program {
  func cache(_ inputs: Inputs) -> Int32 {
    guard let path = inputs.text("cache_dir") ?? DownloadCacheFolder.usual else {
      say("no directory for the cache: set '--cache-dir' or HOME")
      return ExitStatus.failure
    }
    do throws(SystemError) {
      // Examining a directory that does not exist must not create it.
      let cache =
        Files.exists(path)
        ? try DownloadCache(DownloadCacheFolder(path), DownloadCacheLimits()) { [self] in say($0) }
        : nil
      if inputs.operands == ["clear"] {
        let removed = try cache?.clear() ?? DownloadCacheStatistics()
        output.write(inputs.isOn("json") ? json(removed, path) : "removed \(words(removed))\n")
      } else {
        let statistics = try cache?.statistics() ?? DownloadCacheStatistics()
        output.write(
          inputs.isOn("json") ? json(statistics, path) : "\(path): \(words(statistics))\n")
      }
      return ExitStatus.success
    } catch {
      say(error.message)
      return ExitStatus.failure
    }
  }

  private func words(_ statistics: DownloadCacheStatistics) -> String {
    let contents = "\(statistics.objectCount) content\(statistics.objectCount == 1 ? "" : "s")"
    let records = "\(statistics.recordCount) record\(statistics.recordCount == 1 ? "" : "s")"
    return "\(contents) of \(shownBytes(statistics.byteCount)), \(records)"
  }

  private func json(_ statistics: DownloadCacheStatistics, _ path: String) -> String {
    let oldest = statistics.oldestUse.map(String.init) ?? "null"
    return "{\"path\":\(jsonString(path)),\"contents\":\(statistics.objectCount),"
      + "\"bytes\":\(statistics.byteCount),\"records\":\(statistics.recordCount),"
      + "\"oldest_use\":\(oldest)}\n"
  }
}
