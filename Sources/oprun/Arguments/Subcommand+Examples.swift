// One or two command lines for each command, as its help and the reference show them.

extension Subcommand {
  /// Command lines with comments, as they may be given to a shell; empty if the command needs none.
  var examples: String {
    switch name {
    case "run":
      """
      oprun run ci.yml -j 4              # all steps of ci.yml, at most four at once
      oprun run test --param mode=fast   # the step test, and what it needs
      """
    case "resume":
      """
      oprun resume                       # what is left of the last run
      oprun resume k3 --from test -n     # what would run again in the run whose name ends with k3
      """
    case "watch":
      "oprun watch test                   # run the step test again whenever its files change"
    case "submit": "oprun submit ci.yml -- --nodes=2 --time=2:00:00"
    case "status": "oprun status --follow              # until the run ends"
    case "pause": "oprun pause --queue network        # start nothing more in the queue network"
    case "continue": "oprun continue --queue network"
    case "cancel":
      """
      oprun cancel                       # the run in progress
      oprun cancel test                  # only its step test
      """
    case "retry": "oprun retry test"
    case "set":
      """
      oprun set max_parallel=2           # from now on, two steps at once
      oprun set priority=high test
      """
    case "history": "oprun history --limit 5"
    case "show":
      """
      oprun show                         # the last run
      oprun show test --json             # its step test, for programs
      """
    case "logs":
      """
      oprun logs test                    # what the step test has printed in the last run
      oprun logs k3 --follow             # all of the run whose name ends with k3, as it comes
      """
    case "report": "oprun report > run.html"
    case "analyze": "oprun analyze --jobs 8 --faster test=2x   # what if"
    case "prune": "oprun prune --keep 20 -n           # what would be removed"
    case "init": "oprun init ci/build.yml"
    case "list": "oprun list ci.yml --json"
    case "graph": "oprun graph --format dot | dot -Tsvg > graph.svg"
    case "validate": "oprun validate ci/*.yml"
    case "test": "oprun test release.yml --update"
    case "fmt": "oprun fmt --check                  # for CI: status 1 if something would change"
    case "why": "oprun why test                     # what has changed since test succeeded"
    case "trace": "oprun trace test                   # which files test reads and writes"
    case "explain": "oprun explain retry"
    case "doctor": "oprun doctor --executor slurm -- --partition=short"
    case "schema": "oprun schema > oprun.schema.json"
    default: ""
    }
  }
}
