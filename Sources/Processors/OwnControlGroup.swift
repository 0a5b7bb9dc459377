// Which control group (version 2) a process is in. Pure: it is given the texts of the kernel's files.

/// The control group of a process, and where the groups can be looked at.
package struct OwnControlGroup: Hashable {
  /// The folder of the outermost group that can be seen.
  package let root: String
  /// The folders from there to the group; nil if the group is outside of what can be seen.
  package let names: [String]?

  /// Nil where there are no groups of version 2.
  ///
  /// `membership` is the text of `/proc/self/cgroup`; `exists` tells whether there is a file.
  package init?(membership: [UInt8], exists: (String) -> Bool) {
    let lines = membership.split(separator: UInt8(ascii: "\n"))
    // The whole hierarchy, or beside version 1.
    let roots = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"]
    guard let own = lines.first(where: { $0.starts(with: "0::/".utf8) }),
      let root = roots.first(where: { exists("\($0)/cgroup.controllers") })
    else { return nil }
    self.root = root
    let names = String(decoding: own.dropFirst(4), as: UTF8.self).split(separator: "/")
    // From inside a namespace, groups outside of it have such names; only its root can be seen.
    self.names = names.contains("..") ? nil : names.map(String.init)
  }

  /// The folder of the group; nil if it cannot be seen.
  package var path: String? { names.map { $0.reduce(root) { "\($0)/\($1)" } } }
}
