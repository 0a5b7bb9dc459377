// What a resumed run takes over from the one that it resumes, and from those that have gone on with that one since.

import Testing

@testable import State

struct `What a run takes over` {
  @Test func `is the newest end of a step, and nothing if that may not be kept`() throws {
    let place = StatePlace()
    let store = try StateStore.make(in: place.folder)
    let names = ["kept", "failed", "cut-off", "again", "not-begun"]
    try place.sql(
      """
      INSERT INTO step(id, name) VALUES
        \(names.enumerated().map { "(\($0 + 1), '\($1)')" }.joined(separator: ", "));
      INSERT INTO result(run, step, place, outcome, started) VALUES
        (1, 1, 0, 0, 5), (1, 2, 1, 0, 5), (1, 3, 2, 0, 5), (1, 4, 3, 0, 5), (1, 5, 4, 0, 5),
        (2, 2, 1, 2, 5), (2, 3, 2, NULL, 5), (2, 4, 3, 0, 5), (2, 5, 4, 6, NULL);
      INSERT INTO output(run, step, name, value) VALUES (1, 1, 'v', '1'), (1, 2, 'v', '1'), (1, 4, 'v', '1'), (2, 4, 'w', '2');
      """)
    try store.database.takeOver(1, [2], by: 3)
    #expect(
      try store.database.text(
        """
        SELECT group_concat(name || ' ' || origin, ', ') FROM
          (SELECT * FROM result JOIN step ON id = step WHERE run = -3 ORDER BY step)
        """) == "kept 1, again 2, not-begun 1")
    #expect(
      try store.database.text(
        """
        SELECT group_concat(step.name || ' ' || output.name, ', ') FROM output
          JOIN step ON id = step WHERE run = -3
        """) == "kept v, again w")
  }
}
