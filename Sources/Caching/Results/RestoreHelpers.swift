// Processes that put files back beside the one that has the job, if there is enough to do: hashing keeps a processor
// busy.

import CLinux
import Glibc

/// They tell which files they have put back in memory that they share with this process.
struct RestoreHelpers {
  /// Below this, starting a process is not worth it.
  private static let leastBytes = 16 << 20
  private static let most = 3

  /// The helper that has each file; nil is this process.
  private var owners: [Int?]
  private let count: Int
  private var processes: [pid_t] = []
  /// One for each file, unknown until it is there, and one that is unknown until the helpers should end.
  private var stamps: UnsafeMutablePointer<FileStamp>?

  /// The sizes of the files. Each process gets about the same number of bytes.
  init(_ sizes: [Int]) {
    let processorCount =
      sizes.reduce(0, +) < Self.leastBytes ? 1 : sysconf(Int32(_SC_NPROCESSORS_ONLN))
    count = max(0, min(Self.most, processorCount - 1, sizes.count - 1))
    var loads = [Int](repeating: 0, count: count + 1)
    owners = sizes.map { size in
      let least = loads.indices.min { loads[$0] < loads[$1] } ?? 0
      loads[least] += size + 1
      return least == 0 ? nil : least - 1
    }
  }

  private var byteCount: Int { (owners.count + 1) * MemoryLayout<FileStamp>.stride }

  /// Nil if this process has to do it.
  func owner(of place: Int) -> Int? { owners[place] }

  /// The stamp of a file that was put back; nil if it was not.
  func stamp(of place: Int) -> FileStamp? {
    guard let stamp = stamps?[place], stamp != .unknown else { return nil }
    return stamp
  }

  /// Starts the processes; each calls `restore` for the places that it has.
  mutating func start(_ restore: (Int) -> FileStamp?) {
    if count == 0 { return }
    let memory = mmap(
      nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)
    guard let memory, memory != MAP_FAILED else { return owners = owners.map { _ in nil } }
    let stamps = memory.bindMemory(to: FileStamp.self, capacity: owners.count + 1)
    stamps.initialize(repeating: .unknown, count: owners.count + 1)
    self.stamps = stamps
    let parent = getpid()
    for helper in 0..<count {
      let process = clinux_fork()
      if process == 0 {
        clinux_end_with_parent()
        if getppid() != parent { _exit(1) }
        for place in owners.indices where owners[place] == helper {
          guard stamps[owners.count] == .unknown, let stamp = restore(place) else { break }
          stamps[place] = stamp
        }
        _exit(0)
      }
      if process > 0 { processes.append(process) }
    }
  }

  mutating func wait() {
    for process in processes {
      var status: Int32 = 0
      while waitpid(process, &status, 0) < 0, errno == EINTR {}
    }
    processes = []
  }

  /// Must be called once. Those that still work end after the file that they have begun: a killed one would leave
  /// a part of it.
  mutating func end() {
    stamps?[owners.count].distrust()
    wait()
    if let stamps { munmap(stamps, byteCount) }
    stamps = nil
  }
}
