// One damaged page of the database, whichever it is: runs go on with a new one as soon as somebody has met the damage.

import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct `A damaged page of the database` {
  /// A place with a database that has something of everything: outputs that fill pages, failures, hooks, pages that are free
  /// again. Its log is empty.
  private func makePlace() throws -> Workspace {
    let place = try Workspace(named: "damaged", holding: [])
    let long = String(repeating: "x", count: 5000)
    for count in [8, 40] {
      let steps = (0..<count).map { number in
        let command = number % 4 == 0 ? "echo v=\(long) >>$OPRUN_OUTPUT" : "exit \(number % 3)"
        return "  - {id: step-\(number), run: '\(command)', retry: 1, on_complete: 'true'}\n"
      }
      try place.write("steps:\n" + steps.joined(), to: "\(count).yml")
    }
    try place.write("steps: [{id: a, run: 'true'}, {id: b, run: 'true'}]", to: "pipeline.yml")
    let end = try place.run(
      """
      for file in 8.yml 40.yml pipeline.yml; do oprun $file --output quiet 2>/dev/null; done
      oprun prune --keep 2 >/dev/null
      sqlite3 .oprun/state.db 'PRAGMA wal_checkpoint(TRUNCATE); PRAGMA freelist_count' | tail -n 1
      rm -f .oprun/state.db-*; mv .oprun whole
      """)
    #expect(Int(end.output.dropLast()) ?? 0 > 4, "\(end.output)\(end.errors)")
    return place
  }

  /// `said` shows the status of a command, and what it says of damage; other words are shown as they are.
  private static let script = """
    said() {
      "$@" >/dev/null 2>errors; status=$?; words=$(tr '\\n' ' ' <errors)
      case $words in
        "") echo $status;;
        *"was damaged: it is now .oprun/state.db.damaged-"*", and a new history starts "*) echo $status aside;;
        *"it is damaged ("*"the next run moves the file aside and starts a new history "*) echo $status damaged;;
        *) echo "$status $words";;
      esac
    }
    rm -rf .oprun; cp -r whole .oprun; cp damaged.db .oprun/state.db
    first=$(said oprun pipeline.yml --output quiet)
    if [ "$first" = 0 ]; then
      said oprun history; for run in $(ls .oprun/runs); do said oprun show $run; done
    fi | sort -u
    echo $first; said oprun pipeline.yml --output quiet
    ls .oprun | grep -c suspect; sqlite3 .oprun/state.db 'PRAGMA integrity_check(1)' 2>&1 | tail -n 1
    """

  /// It may be a page that every run reads, or some reader, or nobody.
  @Test func `is put aside by the next run once somebody has met it`() throws {
    let place = try makePlace()
    let whole = try Data(contentsOf: place.folder.appending(path: "whole/state.db"))
    let pageSize = Int(whole[16]) << 8 | Int(whole[17])
    var random = SeededGenerator(seed: 1)
    var asideCount = 0
    let pages = (0..<whole.count / pageSize).shuffled(using: &random).prefix(Self.sampleCount)
    for (index, page) in pages.enumerated() {
      var damaged = whole
      for byte in page * pageSize..<(page + 1) * pageSize {
        damaged[byte] = index % 2 == 0 ? 0 : UInt8.random(in: 0...255, using: &random)
      }
      try damaged.write(to: place.folder.appending(path: "damaged.db"))
      let end = try place.run(Self.script)
      let lines = end.output.split(separator: "\n").map(String.init)
      let (commands, rest) = (lines.dropLast(2), lines.suffix(2))
      let isMet = commands.dropLast().contains("74 damaged")
      #expect(commands.last == (isMet ? "0 aside" : "0"), "page \(page): \(lines)")
      #expect(
        commands.allSatisfy { ["0", "0 aside", "74 damaged"].contains($0) },
        "page \(page): \(lines)")
      let isAside = commands.contains("0 aside")
      #expect(rest.first == "0" && (rest.last == "ok" || !isAside), "page \(page): \(lines)")
      if isAside { asideCount += 1 }
    }
    // The probe can see: most pages are read by somebody.
    #expect(asideCount > Self.sampleCount / 2)
  }

  private static let sampleCount = 18
}
