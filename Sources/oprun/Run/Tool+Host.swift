// What pipelines and records know about this machine.

import Glibc
import Pipelines
import Plans
import Processors

extension Tool {
  var runHost: RunHost {
    let facts = hostFacts()
    return RunHost(name: facts.name, processorCount: facts.processorCount)
  }

  func hostFacts() -> HostFacts {
    var facts = HostFacts()
    facts.processorCount = availableProcessorCount
    var system = utsname()
    guard uname(&system) == 0 else { return facts }
    facts.name = text(of: system.nodename)
    facts.architecture = text(of: system.machine)
    facts.operatingSystem = text(of: system.sysname).lowercased()
    return facts
  }

  /// The string in a field of fixed size.
  private func text<Field>(of field: Field) -> String {
    withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}

/// The memory of this machine in bytes.
var physicalMemory: Int? {
  let (size, isTooMuch) = sysconf(Int32(_SC_PHYS_PAGES)).multipliedReportingOverflow(
    by: sysconf(Int32(_SC_PAGESIZE)))
  return isTooMuch || size <= 0 ? nil : size
}
