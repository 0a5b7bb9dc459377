// The messages of a task. Slurm keeps them in the output of the job.

import Diagnostics

func belongsToAnother(_ task: Int, _ job: String) -> String {
  "task \(task) belongs to job \(quoted(job)): this start is ignored"
}

func hasBegun(_ start: TaskStart) -> String {
  "start \(start.restart) of task \(start.task) has already begun: this start is ignored"
}

func isSuperseded(_ start: TaskStart) -> String {
  "task \(start.task) has been started again: the result of start \(start.restart) does not count"
}

func wasInterrupted(_ start: TaskStart, by signal: Int32) -> String {
  "task \(start.task) was ended from outside by \(signalName(signal)): it has no result"
}

/// The reason why a command cannot start: the directory of the pipeline does not exist.
func noWorkspace(_ path: String, on host: String, errno: Int32) -> String {
  "cannot enter the directory \(quoted(path)) on node \(quoted(host)): "
    + "\(SystemError.reason(errno)) (is it on a file system that all nodes share?)"
}

func noFolder(_ path: String, on host: String, errno: Int32) -> String {
  "cannot open the directory of the run, \(quoted(path)), on node \(quoted(host)): "
    + "\(SystemError.reason(errno)) (is it on a file system that all nodes share?)"
}

func notOnlyOurs(_ path: String) -> String {
  "the directory of the run, \(quoted(path)), must belong to the user of the job, "
    + "and others must not be able to write to it"
}
