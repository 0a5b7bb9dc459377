// What the benchmark is asked for on its command line.

import Glibc

/// The arguments, understood; it ends the process if they are not.
struct Options: Sendable {
  private static let rowNames = [
    "memory", "independent", "at-once", "chains", "chain", "graph", "producers", "trials", "growth",
  ]
  private static let help = """
    Measures OperationKit beside Foundation's OperationQueue, Dispatch and task groups.

    usage: operations-benchmark [--quick] [--only ROW] [--count N] [--peer NAME]

      --quick      a tenth of the operations
      --only ROW   one row: \(rowNames.joined(separator: ", "))
      --count N    this many operations instead of 1,000,000
      --peer NAME  one peer: OperationKit, Foundation, Dispatch, 'task group'
      --help       prints this text

    Each figure is the median of three rounds, in which the peers take turns. Each time is that of the
    second of two runs of the job in a process that does nothing else. Each trial runs in its own
    process, too, which is killed if it has not ended after a minute.

    """

  private(set) var isQuick = false
  private var row: String?
  private var givenCount: Int?
  private(set) var peer: String?
  private(set) var trial: (name: String, peer: String)?
  private(set) var sample: Sample?

  var count: Int { givenCount ?? (isQuick ? 100_000 : 1_000_000) }

  init(_ arguments: some Sequence<String>) {
    var rest = arguments.makeIterator()
    func value(of option: String) -> String {
      guard let value = rest.next() else { Options.fail("'\(option)' needs a value") }
      return value
    }
    while let option = rest.next() {
      switch option {
      case "--quick": isQuick = true
      case "--only": row = Options.row(value(of: option))
      case "--count": givenCount = Options.number(value(of: option))
      case "--peer": peer = value(of: option)
      case "--trial": trial = (value(of: option), value(of: option))
      case "--sample": sample = Sample(row: value(of: option), peer: value(of: option))
      case "--help", "-h":
        print(Options.help, terminator: "")
        exit(0)
      default: Options.fail("unknown argument '\(option)'")
      }
    }
  }

  func wants(_ name: String) -> Bool { row == nil || row == name }

  private static func row(_ name: String) -> String {
    if !rowNames.contains(name) { fail("unknown row '\(name)'") }
    return name
  }

  private static func number(_ text: String) -> Int {
    guard let number = Int(text), number >= 8 else {
      fail("'\(text)' is not a number of 8 or more")
    }
    return number
  }

  static func fail(_ message: String) -> Never {
    let text = "operations-benchmark: \(message)\nhelp: '--help' lists all options\n"
    _ = text.withCString { write(STDERR_FILENO, $0, strlen($0)) }
    exit(2)
  }
}
