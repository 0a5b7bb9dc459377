// A real run with observers that its command line describes, to see what they are told, when, and
// what happens to a run whose observers fail: `observed-run FILE [--changeable] OBSERVER…` in its
// own directory.

import Execution
import Glibc
import Pipelines
import Plans
import Scheduling

let path = CommandLine.arguments[1]
let pipeline = LoadedPipeline(path: path, bytes: try readPipelineFile(path), files: .system)
let plan = try pipeline.plan(PlanningOptions())
let (id, directory) = try StateDirectory(path: ".oprun").makeRun()
var options = RunOptions(runID: id, directory: directory)
options.host = RunHost(name: "somewhere", processorCount: 3)
options.canBeChangedFromOutside = CommandLine.arguments.contains("--changeable")
let scribes = CommandLine.arguments.dropFirst(2).filter { !$0.hasPrefix("--") }
  .map { Scribe($0, plan) }
exit(try run(plan, options, observers: scribes).exitStatus)
