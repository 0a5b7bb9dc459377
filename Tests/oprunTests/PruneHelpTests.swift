// What the help of `oprun prune` says about limits.

import Caching
import Foundation
import State
import Testing

@testable import oprun

@Suite struct `The help of prune` {
  @Test func `it has the limits of the code`() throws {
    let limits = PruneLimits.automatic
    let count = try #require(limits.count).formatted(.number.locale(Locale(identifier: "en_US")))
    let age = try #require(limits.age) / 86_400_000_000_000
    let size = try #require(limits.size) >> 30
    #expect(
      PruneLimits.automaticWords == "\(count) runs, \(age) days and \(size) GiB of logs")
    let help = Subcommand.prune.details
    #expect(help.contains(PruneLimits.automaticWords))
    let cached = CacheLimits()
    #expect(help.contains("for \(cached.age / 86_400) days after their last use"))
    #expect(help.contains("up to \(cached.size >> 30) GiB of them"))
  }
}
