// What a command printed, and what of it its confinement explains.

import Foundation
import TestSupport
import Testing

@testable import Execution

@Suite(.blocking) final class RefusalSearchTests {
  /// The parent of the workspace, without links in its path.
  private let parent: String
  private var workspace: String { parent + "/ws" }

  init() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let real = try #require(realpath(folder.path, nil))
    parent = String(cString: real)
    free(real)
    for file in [
      "src/a.c", "src/util.h", "src/with space.c", "build/app", "dist/x", "LICENSE", "app",
    ] {
      let url = URL(fileURLWithPath: "\(parent)/ws/\(file)")
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data("x".utf8).write(to: url)
    }
    for name in ["lib.a", "pycache"] { try makePlaceholder("\(parent)/ws/build/\(name)") }
    try FileManager.default.createSymbolicLink(
      atPath: "\(parent)/ws/link", withDestinationPath: "src/util.h")
  }

  /// Makes a file as it is made before a command starts.
  private func makePlaceholder(_ path: String) throws {
    try Data().write(to: URL(fileURLWithPath: path))
    let time = timespec(tv_sec: 1, tv_nsec: 987_654_321)
    try #require(utimensat(AT_FDCWD, path, [time, time], 0) == 0)
  }

  deinit { try? FileManager.default.removeItem(atPath: parent) }

  private func words(of output: String, in folder: String = "", start: Int64 = .max) -> [String] {
    RefusalSearch(
      workspace: workspace, directory: workspace + folder,
      rules: [
        (workspace + "/src/a.c", .reading), (workspace + "/build/app", .wholeFile),
        (workspace + "/dist", .everything), (workspace + "/app", .wholeFile),
        (workspace + "/build/lib.a", .wholeFile), (workspace + "/build/pycache", .wholeFile),
      ], start: start
    ).refusals(in: output).map(\.words)
  }

  @Test func `git does not say that it saw a repository and could not use it`() throws {
    let line = "fatal: not a git repository (or any of the parent directories): .git"
    #expect(words(of: line) == [])
    try FileManager.default.createDirectory(
      atPath: workspace + "/.git", withIntermediateDirectories: false)
    for (folder, path) in [("", ".git"), ("/src", "../.git")] {
      #expect(
        words(of: line, in: folder) == [
          "it does not declare '\(path)', which changes with every commit: compute what the step wants to know of "
            + "the repository in 'vars', or in a step without 'cache'"
        ])
    }
  }

  @Test(arguments: [
    "cat: src/util.h: Permission denied",
    "src/a.c:3:10: fatal error: util.h: Permission denied",
    "cc1: fatal error: src/util.h: Permission denied",
    "PermissionError: [Errno 13] Permission denied: 'src/util.h'",
    "Error: EACCES: permission denied, open './src/util.h'",
    "tar: src/util.h: Cannot open: Permission denied",
    "cat: link: Permission denied",
    "error: failed to lock src/util.h\n\nCaused by:\n  Permission denied (os error 13)",
    "error: cannot use src/util.h\n  1: Permission denied (os error 13)",
  ])
  func `a file that is not declared is found in the words of programs`(_ line: String) {
    let found = words(of: "first\n\(line)\nlast")
    #expect(found.count == 1)
    #expect(
      found.allSatisfy {
        $0.hasPrefix("it does not declare '") && $0.contains("util.h'")
          && $0.hasSuffix("; add it to 'inputs', or a pattern such as 'src/*.h'")
      }, "\(found)")
  }

  @Test func `an input that was replaced in the meantime is told from one that cannot be changed`()
  {
    let line = "cat: src/a.c: Permission denied"
    #expect(words(of: line) == ["it declares 'src/a.c' as an input, which it cannot change"])
    #expect(
      words(of: line, start: 0) == [
        "its input 'src/a.c' was replaced or changed while the command ran: the command can only read the file that was there "
          + "when it started, and not change it"
      ])
  }

  @Test func `names with spaces are found in quotes`() {
    #expect(
      words(of: "error: error opening input file 'src/with space.c' (Permission denied)") == [
        "it does not declare 'src/with space.c'; add it to 'inputs', or a pattern such as 'src/*.c'"
      ])
  }

  @Test(arguments: [
    ("tar: build/o.tar: Cannot open: Permission denied", "build/o.tar"),
    ("gzip: src/a.c.gz: Permission denied", "src/a.c.gz"),
    ("gzip: LICENSE.gz: Permission denied", "LICENSE.gz"),
    ("sh: 1: cannot create src/o é.txt: Permission denied", "src/o é.txt"),
    ("ld: cannot open output file build/prog: Permission denied", "build/prog"),
    ("cp: cannot create regular file 'src/b c': Permission denied", "src/b c"),
  ])
  func `what is to be made is found in the words of programs`(_ line: String, _ path: String) {
    let found = words(of: line)
    #expect(
      found.count == 1
        && found[0].hasPrefix("none of its 'outputs' or 'scratch' patterns covers '\(path)'"),
      "\(found)")
  }

  @Test(arguments: [
    "awk: can't open src/util.h!", "m4: cannot open `src/util.h'", "x: failed to read src/util.h.",
    "could not open \"src/util.h\"",
  ])
  func `a program need not say why it cannot open a file`(_ line: String) {
    #expect(
      words(of: line) == [
        "it does not declare 'src/util.h'; add it to 'inputs', or a pattern such as 'src/*.h'"
      ])
  }

  @Test func `names with spaces are found without quotes`() {
    #expect(
      words(of: "cat: src/with space.c: Permission denied") == [
        "it does not declare 'src/with space.c'; add it to 'inputs', or a pattern such as 'src/*.c'"
      ])
  }

  @Test func `detours in paths are left out`() {
    #expect(
      words(of: "src/a.c:1: fatal error: src/../src/./util.h: Permission denied") == [
        "it does not declare 'src/util.h'; add it to 'inputs', or a pattern such as 'src/*.h'"
      ])
  }

  @Test func `paths are written as the step's patterns are`() {
    #expect(
      words(of: "x: \(workspace)/src/util.h: Permission denied", in: "/build") == [
        "it does not declare '\(workspace)/src/util.h'; add it to 'inputs', or a pattern such as '../src/*.h'"
      ])
    #expect(
      words(of: "cat: LICENSE: Permission denied") == ["it does not declare 'LICENSE'"])
  }

  @Test func `what cannot be made, replaced or removed is explained`() {
    #expect(
      words(of: "sh: 1: cannot create out: Permission denied") == [
        "none of its 'outputs' or 'scratch' patterns covers 'out': add it ('out/' if it is a directory)"
      ])
    #expect(
      words(of: "sh: 1: cannot create build/x.tmp: Permission denied") == [
        "none of its 'outputs' or 'scratch' patterns covers 'build/x.tmp': add it, or a pattern such as "
          + "'build/*'"
      ])
    #expect(
      words(of: "gzip: build/lib.a already exists; not overwritten") == [
        "'build/lib.a' is declared as a file, and nothing else can be created, replaced or removed in 'build': "
          + "write 'build/lib.a/' if it is a directory, or declare 'build/lib.a*', which opens 'build'"
      ])
    let line = "[Errno 20] Not a directory: 'build/pycache/a.cpython-311.pyc.1404'"
    #expect(
      words(of: line) == [
        "'build/pycache' is declared as a file, and nothing else can be created, replaced or removed in 'build': "
          + "write 'build/pycache/' if it is a directory, or declare 'build/pycache*', which opens 'build'"
      ])
    #expect(
      words(of: "ar: build/lib.a: file format not recognized").map { $0.prefix(35) } == [
        "'build/lib.a' is declared as a file"
      ])
    #expect(words(of: "cat: src/a.c/b: Not a directory").isEmpty)
    // What is a file already was not to be a directory.
    #expect(
      words(of: "rm: cannot remove 'build/app': Permission denied") == [
        "'build/app' is declared as a file, and nothing else can be created, replaced or removed in 'build': "
          + "declare 'build/app*', which opens 'build'"
      ])
    #expect(
      words(of: "rm: cannot remove 'app': Permission denied") == [
        "'app' is declared as a file, and nothing else can be created, replaced or removed in '.': let the command "
          + "create the file in a directory of its own, because opening this one opens the whole workspace"
      ])
    #expect(
      words(of: "rm: cannot remove 'src/a.c': Permission denied") == [
        "it declares 'src/a.c' as an input, which it cannot change"
      ])
    #expect(
      words(of: "rm: cannot remove 'dist': Permission denied") == [
        "it can fill and empty 'dist', but neither remove nor replace it"
      ])
    #expect(
      words(of: "touch: cannot touch '../x': Permission denied") == [
        "nothing can be created or replaced in '..', which leads to the workspace"
      ])
  }

  @Test(arguments: [
    "cat: src/util.h: No such file or directory", "src/util.h", "Permission denied",
    "ssh: git@example.com: Permission denied (publickey).",
    "awk: can't open src/a.c", "awk: can't open none.h", "can't open src", "it didn't open dist/x",
    "cat: /etc/no-such-file: Permission denied", "dist/x: Permission denied",
    "gzip: build/app already exists; not overwritten",
    "mkdir: cannot create directory 'dist': File exists",
    "ln: failed to create symbolic link 'src/a.c': File exists", "ln: src/util.h: File exists",
    "sh: 1: cannot create LICENSE: File exists",
    "mkdir: cannot create directory 'src': File exists",
    "ld: src/util.h: file format not recognized", "cat: build/app/x: Not a directory",
    "sudo: /etc/shadow: Permission denied", "curl: (9) Permission denied: ftp://x/y", ": : '': ''",
    "'''': Permission denied", "\u{0}\u{1b}[31m: Permission denied",
  ])
  func `what has other reasons is not explained`(_ line: String) {
    #expect(words(of: line) == [])
  }

  @Test func `rules with two dots are those of the paths that they lead to`() {
    let refusals = RefusalSearch(
      workspace: workspace, directory: workspace + "/dist",
      rules: [
        (workspace + "/dist/../src/a.c", .reading),
        (workspace + "/dist/../build/pycache", .wholeFile),
      ]
    ).refusals(
      in: "sh: 1: cannot create ../src/a.c: Permission denied\n"
        + "mkdir: cannot create directory '../build/pycache/x': Not a directory")
    #expect(
      refusals.map(\.words) == [
        "it declares '../src/a.c' as an input, which it cannot change",
        "'../build/pycache' is declared as a file, and nothing else can be created, replaced or removed in '../build': "
          + "write '../build/pycache/' if it is a directory, or declare '../build/pycache*', which opens '../build'",
      ])
  }

  @Test func `a long line is looked at from its beginning, and a long text from its end`() {
    let many = (0..<2_000).map { "'k\($0)' v/\($0)" }.joined(separator: " ")
    #expect(words(of: "src/util.h \(many): Permission denied").count == 1)
    #expect(words(of: "\(many) src/util.h: Permission denied") == [])
    let lines = (0..<1_000).map { "cat: /etc/no-\($0): Permission denied" }
    #expect(
      words(of: (lines + ["cat: src/util.h: Permission denied"]).joined(separator: "\n")).count == 1
    )
    #expect(
      words(of: (["cat: src/util.h: Permission denied"] + lines).joined(separator: "\n")) == [])
  }

  @Test func `each path is named once, and not too many`() {
    let lines = (0..<9).map {
      "sh: 1: cannot create \("abcde".dropFirst($0 % 5)): Permission denied"
    }
    let refusals = RefusalSearch(workspace: workspace, directory: workspace, rules: [])
      .refusals(in: lines.joined(separator: "\n"))
    #expect(refusals.map(\.path) == ["abcde", "bcde", "cde", "de", "e"])
    #expect(
      explanation(of: refusals).contains(
        "covers 'cde': add it ('cde/' if it is a directory); and 2 more; 'oprun trace' "))
  }
}
