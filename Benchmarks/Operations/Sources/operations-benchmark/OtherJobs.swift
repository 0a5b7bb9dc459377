// The jobs, done by Dispatch and by task groups, as far as these can.

import Dispatch
import Glibc

enum DispatchJobs {
  static func independent(_ count: Int) {
    let queue = DispatchQueue(label: "benchmark", attributes: .concurrent)
    let group = DispatchGroup()
    for _ in 0..<count { queue.async(group: group) {} }
    group.wait()
  }

  /// A serial queue: each waits for the one before.
  static func chain(_ count: Int) {
    let queue = DispatchQueue(label: "benchmark")
    let group = DispatchGroup()
    for _ in 0..<count { queue.async(group: group) {} }
    group.wait()
  }

  static func producers(_ count: Int) {
    let queue = DispatchQueue(label: "benchmark", attributes: .concurrent)
    let group = DispatchGroup()
    inParallel(8) { for _ in 0..<count / 8 { queue.async(group: group) {} } }
    group.wait()
  }

  static func memory(_ count: Int) -> Int {
    let queue = DispatchQueue(label: "benchmark", attributes: .concurrent)
    let group = DispatchGroup()
    queue.suspend()
    let before = bytesInUse()
    for number in 0..<count { queue.async(group: group) { use(number) } }
    let bytes = (bytesInUse() - before) / count
    queue.resume()
    group.wait()
    return bytes
  }
}

enum TaskGroupJobs {
  static func independent(_ count: Int) async {
    await withDiscardingTaskGroup { group in
      for _ in 0..<count { group.addTask {} }
    }
  }

  static func chain(_ count: Int) async {
    var tasks: [Task<Void, Never>] = []
    for _ in 0..<count {
      tasks.append(Task.detached { [last = tasks.last] in await last?.value })
    }
    await tasks.last?.value
    releaseLastFirst(&tasks)
  }

  static func graph(_ graph: RandomGraph) async {
    var tasks: [Task<Void, Never>] = []
    tasks.reserveCapacity(graph.count)
    for index in 0..<graph.count {
      let awaited = graph.dependencies(of: index).map { tasks[Int($0)] }
      tasks.append(Task.detached { for task in awaited { await task.value } })
    }
    for task in tasks { await task.value }
    releaseLastFirst(&tasks)
  }

  /// A task keeps what its closure keeps: a chain released at its end overflows the stack.
  private static func releaseLastFirst(_ tasks: inout [Task<Void, Never>]) {
    while tasks.popLast() != nil {}
  }
}

func inParallel(_ count: Int, _ body: @escaping @Sendable () -> Void) {
  let group = DispatchGroup()
  for _ in 0..<count {
    group.enter()
    let thread = Box {
      body()
      group.leave()
    }
    thread.start()
  }
  group.wait()
}

/// A plain thread: Dispatch's own are what is measured.
private final class Box {
  private let body: () -> Void
  init(_ body: @escaping () -> Void) { self.body = body }

  func start() {
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { pointer in
        if let pointer { Unmanaged<Box>.fromOpaque(pointer).takeRetainedValue().body() }
        return nil
      }, Unmanaged.passRetained(self).toOpaque())
    pthread_detach(thread)
  }
}

func yieldProcessor() { sched_yield() }

func sleepMilliseconds(_ milliseconds: UInt32) { usleep(milliseconds * 1000) }

@inline(never) func use(_ number: Int) {}
