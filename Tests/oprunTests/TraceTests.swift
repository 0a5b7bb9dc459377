// From the records of a traced command to the `cache` that is proposed for it.

import Caching
import Execution
import Testing

@testable import oprun

struct TraceTests {
  /// The proposal for records, one a line: `r src/a.c`, `m old new`. Paths are in the workspace `/ws`
  /// unless they begin with a slash; `gone` are those that do not exist at the end.
  private func proposal(
    _ records: String, in directory: String = "/ws", gone: Set<String> = [],
    upstream: [String] = [], names: [String: [String]] = [:], workspace: String = "/ws"
  ) -> [String] {
    let absolute = { (path: Substring) in path.hasPrefix("/") ? String(path) : "/ws/\(path)" }
    let list = records.split(separator: "\n").map { line in
      let words = line.split(separator: " ")
      return TraceRecord(
        kind: words[0].first ?? " ", path: absolute(words[1]),
        newPath: words.count > 2 ? absolute(words[2]) : "")
    }
    let missing = Set(gone.map { absolute($0[...]) })
    let files = TracedFiles(list, workspace: workspace) { !missing.contains($0) }
    let place = TracedWorkspace(
      workspace: workspace, directory: directory, state: "/ws/.oprun",
      upstream: upstream.map { (FilePattern($0), "/ws") })
    let declaration = TracedDeclaration(files, place) { names[$0] }
    return [
      ("in", declaration.inputs), ("out", declaration.outputs), ("scratch", declaration.scratch),
    ]
    .filter { !$0.1.isEmpty }.map { "\($0.0): \($0.1.joined(separator: " "))" }
      + declaration.remarks
  }

  @Test func `reads are inputs, writes are outputs, and the rest of the machine is neither`() {
    #expect(
      proposal(
        """
        x /usr/bin/cc
        r /usr/include/stdio.h
        r src/a.c
        n build/a
        r build/a
        r .oprun/runs/r1/x
        x tool.sh
        n /tmp/x
        """) == ["in: src/a.c tool.sh", "out: build/a"])
  }

  @Test func `what is read through a link is an input by the name that was used`() {
    #expect(
      proposal(
        """
        r v1/x current/x
        r src/a.c /elsewhere/a.c
        r src/b.c src/./b.c
        r src/c.c current/../src/c.c
        n made
        r made link
        """) == ["in: current/x src/*.c", "out: made"])
    #expect(proposal("r v1/x current/x\nr v1/x v1/x") == ["in: current/x v1/x"])
    #expect(
      proposal("r made/x made/x\nr made/x link/x", upstream: ["made/*"])
        == ["in: link/x", "created by steps that it depends on: made/x"])
  }

  @Test func `a directory that is made anew is an output as a whole`() {
    let mkdir = Self.mkdir
    let remark = "removed and created again, where a confined step can only remove what is in it: "
    let names = ["/ws/out": ["a"], "/ws/b/out": ["a"], "/ws/part": ["a", "old"]]
    #expect(
      proposal("d out/x\nK out\nk out\nn out/a", gone: ["out/x"], names: names)
        == ["out: out/", "removed, which a cached step cannot do: out/x", remark + "out"])
    #expect(
      proposal("K b/out\nk b/out\nn b/out/a\nn b/c", names: names)
        == ["out: b/c b/out/", remark + "b/out"])
    #expect(proposal("k out\nn out/a", names: names) == ["out: out/a", mkdir + "out"])
    // One that is not there the first time is there the next time.
    #expect(
      proposal("D out\nk out\nn out/a", names: names) == ["out: out/", remark + "out"])
    #expect(proposal("K part\nk part\nn part/a", names: names) == ["out: part/a", remark + "part"])
  }

  @Test func `many files of a kind become a pattern`() {
    #expect(proposal("r src/a.c\nr src/b.c") == ["in: src/a.c src/b.c"])
    #expect(proposal("r src/a.c\nr src/b.c\nr src/c.c\nr src/x.h") == ["in: src/*.c src/x.h"])
    #expect(
      proposal("r src/a.c\nr src/x/b.c\nr src/y/c.c\nr a.c\nr lib/z.c")
        == ["in: a.c lib/z.c src/**/*.c"])
    #expect(
      proposal("r src/x/a.c\nr src/x/y/b.c\nr src/x/z/c.c") == ["in: src/x/**/*.c"])
    #expect(proposal("r a.c\nr b.c\nr c.c\nr Makefile") == ["in: *.c Makefile"])
  }

  @Test func `a pattern matches nothing that the step writes`() {
    #expect(
      proposal("r src/a.c\nr src/b.c\nr src/c.c\nn src/gen.c")
        == ["in: src/a.c src/b.c src/c.c", "out: src/gen.c"])
  }

  @Test func `hidden files and very many files stand as they are, or as their directory`() {
    #expect(proposal("r .a.c\nr .b.c\nr .c.c") == ["in: .a.c .b.c .c.c"])
    let objects = (0..<30).map { "r .git/objects/\($0)" }.joined(separator: "\n")
    #expect(proposal(objects + "\nr x") == ["in: .git x"])
  }

  @Test func `names that look like patterns are escaped`() {
    #expect(proposal("r a[1].c\nr !x\nr b*\nr {a,b}") == ["in: ./!x [{]a,b} a[[]1].c b[*]"])
  }

  @Test func `paths start in the step's directory`() {
    #expect(
      proposal("r src/a.c\nr lib/b.c\nn src/o", in: "/ws/src") == ["in: ../lib/b.c a.c", "out: o"])
  }

  @Test func `temporary files are scratch, and what is replaced needs its directory`() {
    #expect(
      proposal("e build/app.tmp1\nm build/app.tmp1 build/app", gone: ["build/app.tmp1"])
        == ["out: build/app*"])
    #expect(
      proposal("n build/st123\nn build/l.a\nd build/st123", gone: ["build/st123"])
        == ["out: build/l.a", "scratch: build/*"])
    #expect(proposal("e data.gz") == ["out: data.gz*"])
  }

  @Test func `a directory full of results is one output`() {
    #expect(
      proposal("n d/a\nn d/b\nn d/s/c\nn d/s/e\nn d/t\nd d/t", gone: ["d/t"]) == ["out: d/**"])
    #expect(proposal("n d/a\nn d/b\nn d/c\nn d/e") == ["out: d/*"])
    #expect(proposal("r d/x\nn d/a\nn d/b\nn d/c\nn d/e") == ["in: d/x", "out: d/a d/b d/c d/e"])
    #expect(
      proposal("n t/a\nn t/b\nm t d", gone: ["t/a", "t/b", "t"]) == [
        "out: d/a d/b",
        "directories that are renamed, which a confined step can do only in a directory that a pattern opens: d",
      ])
    #expect(
      proposal("k o/t\nn o/t/a\nm o/t o/d", gone: ["o/t/a", "o/t"]) == ["out: o/**"])
    #expect(
      proposal("r o/x\nk o/t\nn o/t/a\nm o/t o/d", gone: ["o/t/a", "o/t"])
        == ["in: o/x", "out: o/d*/a"])
  }

  @Test func `directories that are left empty, and names with a dot, are outputs`() {
    #expect(proposal("k out\nk out/empty\nn out/a") == ["out: out/", Self.mkdir + "out"])
    #expect(proposal("k out") == ["out: out/", Self.mkdir + "out"])
    #expect(proposal("n d/a\nn d/b\nn d/c\nn d/.e") == ["out: d/"])
    #expect(
      proposal("n d/a\nn d/b\nn d/c\nn d/.e", names: ["/ws/d": ["a", "b", "c", ".e", "other"]])
        == ["out: d/* d/.e"])
    #expect(
      proposal("r d/x\nk d/empty\nn d/.e") == [
        "in: d/x", "out: d/.e d/empty/", Self.mkdir + "d/empty",
      ])
    #expect(proposal("e o/p\nd o/p", gone: ["o/p"]) == ["scratch: o/*"])
  }

  @Test func `a directory that is removed again needs the one that it is in`() {
    #expect(
      proposal("k t\nn t/f\nd t/f\nK t", gone: ["t", "t/f"]) == [
        "scratch: t/*",
        "directories that are created and removed, which a confined step can do only in a directory that a pattern opens: t",
      ])
    #expect(
      proposal(
        "k o/t\nk o/t/u\nn o/t/u/f\nd o/t/u/f\nK o/t/u\nK o/t\nn o/t.c\nd o/t.c",
        gone: ["o/t", "o/t/u", "o/t/u/f", "o/t.c"]) == ["scratch: o/*"])
  }

  @Test func `a pattern for what is replaced finds nothing that is read`() {
    let replaced = "r c.h.in\nn c.tmp\nm c.tmp c.h"
    #expect(proposal(replaced, gone: ["c.tmp"]) == ["in: c.h.in", "out: c.[h]"])
    #expect(proposal("r c.h.in/x\ne c.h") == ["in: c.h.in/x", "out: c.h*"])
    #expect(proposal("r d/a_~b\ne d/a_") == ["in: d/a_~b", "out: d/[a]_"])
    #expect(proposal("r d/_b\ne d/_") == ["in: d/_b", "out: d/_"])
  }

  private static let look =
    "only looked at; if an earlier run of the step created them, remove them and trace again: "

  @Test func `what is only looked at is an input, unless the command makes it`() {
    #expect(
      proposal("r Makefile\ns main.c\ns app app\ns src/x current/x") == [
        "in: Makefile app current/x main.c", Self.look + "app, main.c, src/x",
      ])
    #expect(proposal("s a.c\nr a.c") == ["in: a.c"])
    #expect(
      proposal("s app\nt app\ns old\nd old\nn b\ns b", gone: ["old"]) == [
        "out: app b", "removed, which a cached step cannot do: old",
      ])
    #expect(proposal("s .git/index\ns /usr/bin/cc") == [])
    #expect(proposal("s o/x", upstream: ["o/*"]) == ["created by steps that it depends on: o/x"])
    #expect(proposal("L src /usr/bin/ls\ns src/a\ns src/b") == ["in: src/*"])
  }

  @Test func `what was looked for and is not there is an input, too`() {
    #expect(
      proposal("? inc/v.h\nr inc2/v.h\n? local.conf", gone: ["inc/v.h", "local.conf"])
        == ["in: inc/v.h inc2/v.h local.conf"])
    // The first directory that is missing is enough.
    #expect(
      proposal(
        "? inc/sys/a.h\n? inc/sys/b.h\n? /usr/x", gone: ["inc/sys", "inc/sys/a.h", "inc/sys/b.h"])
        == ["in: inc/sys"])
    #expect(
      proposal("r src/a.c\nr src/b.c\nr src/c.c\n? src/d.c", gone: ["src/d.c"])
        == ["in: src/*.c"])
    // No wildcard stands for them: one that matches nothing looks like a mistake.
    #expect(
      proposal("? i/a.h\n? i/b.h\n? i/c.h", gone: ["i/a.h", "i/b.h", "i/c.h"])
        == ["in: i/a.h i/b.h i/c.h"])
    #expect(proposal("? v1/x current/x", gone: ["v1/x", "current/x"]) == ["in: current/x"])
  }

  @Test func `what was found elsewhere, and what compilers keep of what they read, is left out`() {
    #expect(
      proposal(
        """
        ? inc/bits/x.h
        ? inc/stdio.h
        ? inc/b.h
        r /usr/include/bits/x.h
        r /usr/include/stdio.h
        r a.h
        r b.h
        ? a.h.gch
        ? __pycache__/m.cpython-311.pyc
        """,
        gone: [
          "inc/bits", "inc/bits/x.h", "inc/stdio.h", "inc/b.h", "a.h.gch", "__pycache__",
          "__pycache__/m.cpython-311.pyc",
        ]) == ["in: a.h b.h inc/b.h"])
  }

  @Test func `what is not there because of the command is no input`() {
    #expect(
      proposal("? a\nn a\n? t\nk t\nn t/f\nd t/f\nK t\n? t/g", gone: ["t", "t/f", "t/g"])
        == [
          "out: a", "scratch: t/*",
          "directories that are created and removed, which a confined step can do only in a directory that a pattern opens: t",
        ])
    #expect(proposal("k o\nn o/a\n? o/b", gone: ["o/b"]) == ["out: o/a", Self.mkdir + "o"])
    #expect(
      proposal("r x\nd x\n? x", gone: ["x"])
        == ["in: x", "removed, which a cached step cannot do: x"])
    #expect(proposal("e o/x\n? o/x.gz", gone: ["o/x.gz"]) == ["out: o/x*"])
    #expect(proposal("? o/x\n? .git/y", gone: ["o/x", ".git/y"], upstream: ["o/*"]) == [])
  }

  @Test func `nothing in a repository is an output, unless the command has made it`() {
    #expect(
      proposal(
        "r .git/HEAD\nr .git/index\ne .git/index.lock\nM .git/index.lock .git/index\nn v",
        gone: [".git/index.lock"]) == [
          "in: .git/HEAD .git/index", "out: v",
          "changed in a repository, where no output should be: .git/index, .git/index.lock",
        ])
    #expect(
      proposal("r .git/HEAD\nr .git/objects/1/2\nr a/.git/HEAD\nr x") == ["in: .git a/.git/HEAD x"])
    #expect(
      proposal("k o\nk o/.git\nn o/.git/HEAD\nk o/.git/refs") == ["out: o/", Self.mkdir + "o"])
  }

  @Test func `new files in directories that were listed matter`() {
    #expect(proposal("L src /usr/bin/find") == ["in: src/*"])
    #expect(proposal("L src /usr/bin/find\nL src/a /usr/bin/find\nr src/x.c") == ["in: src/**"])
    #expect(proposal("L src /usr/bin/dash\nr src/x.c") == ["in: src/*.c"])
    #expect(proposal("L src /usr/bin/dash\nr src/README") == ["in: src/*"])
    #expect(
      proposal("L /ws /usr/bin/make\nL inc /usr/bin/make\nr Makefile") == ["in: Makefile inc/*"])
    #expect(proposal("o v1 current\nL v1 /usr/bin/ls") == ["in: current/*"])
    #expect(proposal("k out\nn out/a\nL out /usr/bin/ls") == ["out: out/a", Self.mkdir + "out"])
    #expect(proposal("L .git/refs /usr/bin/git") == [])
    #expect(
      proposal("L /ws /usr/bin/ls\nL d /usr/bin/ls\nr d/x\nn d/y") == [
        "in: d/x", "out: d/y", "listed, but no pattern is about new files in it: ., d",
      ])
  }

  @Test func `a list is all that Python, Perl or make wants of some directories`() {
    let unnoticed = "listed, but no pattern is about new files in it: "
    #expect(proposal("L /ws /usr/bin/python3\nL t /usr/bin/python3.11") == ["in: t/*"])
    #expect(proposal("L t /usr/bin/perl\nr t/a.csv") == ["in: t/*.csv"])
    #expect(proposal("L t /usr/bin/perl\nr t/a\nr b") == ["in: b t/a", unnoticed + "t"])
    #expect(proposal("L t /usr/bin/python3\nr t/m/a.py") == ["in: t/m/a.py"])
    #expect(proposal("L out /usr/bin/make\nn out/a") == ["out: out/a"])
    #expect(proposal("L .v/m /usr/bin/python3\nr .v/m/a.py") == ["in: .v/m/a.py"])
  }

  private static let changed =
    "cannot be cached as it is, because the step changes what it reads; let it write other files, or, if an earlier run of the step created them, remove them and trace again: "
  private static let mkdir =
    "directories that the step creates, which are there before a confined step starts; let it expect that (mkdir -p): "

  @Test func `what is read and then changed is an input, and never an output`() {
    // 'sed -i' writes another file, and gives it the name of the one that it has read.
    #expect(
      proposal("r data/u.csv\ne data/sed1\nM data/sed1 data/u.csv", gone: ["data/sed1"])
        == ["in: data/u.csv", "scratch: data/*", Self.changed + "data/u.csv"])
    #expect(proposal("r a\nt a\nn b") == ["in: a", "out: b", Self.changed + "a"])
    // What an earlier run left is not read before it is written anew.
    #expect(proposal("t a.o\nr a.o\nu a.o\nn app") == ["out: a.o app"])
    #expect(
      proposal("r gen/x\nt gen/x", upstream: ["gen/*"]) == [
        Self.changed + "gen/x", "created by steps that it depends on: gen/x",
      ])
  }

  @Test func `what is removed and written again needs its directory`() {
    #expect(proposal("d out/x\nn out/x") == ["out: out/x*"])
    // It was not there.
    #expect(proposal("N out/x\nD out/x\nn out/x") == ["out: out/x*"])
    #expect(proposal("N out/[*].o\nD out/[*].o\nn out/x", gone: ["out/[*].o"]) == ["out: out/x"])
    #expect(
      proposal("N flag\nN flag\nD flag\nn out", gone: ["flag"]) == ["in: flag", "out: out"])
    #expect(proposal("? flag\nN flag\nD flag\nn out", gone: ["flag"]) == ["in: flag", "out: out"])
  }

  @Test func `a program is an input by the path that it was executed by`() {
    #expect(proposal("x v1/ver current/ver\nn out") == ["in: current/ver", "out: out"])
    #expect(proposal("x /usr/bin/python3 venv/python\nn out") == ["in: venv/python", "out: out"])
  }

  @Test func `a link to a directory is an input if what is in the directory can be one`() {
    let vague =
      "links that were read, which cannot be inputs because of what is in the directories that they lead to; if they lead elsewhere, nothing notices: "
    #expect(proposal("y current v1\nr current current\nn out/r") == ["in: current", "out: out/r"])
    #expect(
      proposal("y current v1\nr current current\nn v1/r") == ["out: v1/r", vague + "current"])
    #expect(proposal("y a/me a\nr a/me a/me") == [vague + "a/me"])
    #expect(proposal("y usr /usr\ns usr usr") == [vague + "usr"])
    #expect(proposal("e l\ny l v1\nr l l") == ["out: l*"])
  }

  @Test func `what cannot be declared is remarked`() {
    #expect(
      proposal("u state.db\nd old.txt", gone: ["old.txt"]) == [
        "in: state.db", Self.changed + "state.db",
        "removed, which a cached step cannot do: old.txt",
      ])
    #expect(
      proposal("r build/a.o\nr build/b.o\nr x.c", upstream: ["build/*.o"]) == [
        "in: x.c", "created by steps that it depends on: build/a.o, build/b.o",
      ])
  }

  @Test func `sockets that the command makes are scratch, and those of others are named`() {
    #expect(
      proposal("b run/own\nc run/own\nb run/gone\nd run/gone\nc run/other\nc /run/far") == [
        "scratch: run/*",
        "sockets of other programs that the step connects to; nothing notices if they answer "
          + "something else: run/other",
      ])
  }

  @Test func `the workspace may be the root of all files`() {
    #expect(
      proposal("r /src/a.c\nn /out/a\nr /proc/1/stat\nu /dev/null", in: "/", workspace: "/") == [
        "in: src/a.c", "out: out/a",
      ])
    #expect(
      proposal("r /src/a.c\nr /lib/b.c\nn /src/a", in: "/src", workspace: "/") == [
        "in: ../lib/b.c a.c", "out: a",
      ])
  }

  @Test func `records are read from bytes, and damaged ones are left out`() {
    let records = { (bytes: [UInt8]) in TracedCommand(bytes).records }
    #expect(
      records(Array("r\0/a\0\0m\0/a\0/b\0".utf8)) == [
        TraceRecord(kind: "r", path: "/a", newPath: ""),
        TraceRecord(kind: "m", path: "/a", newPath: "/b"),
      ])
    #expect(records([0x72, 0, 0xff, 0, 0]) == [])
    #expect(records(Array("r\0/a".utf8)) == [])
    #expect(records([]) == [])
  }

  @Test func `a report says where the command began, what has no name, and whether it is whole`() {
    let whole = TracedCommand(Array("w\0/ws/src\0\0r\0/ws/a\0\0E\0\0\0".utf8))
    #expect(whole.directory == "/ws/src" && whole.isComplete && whole.records.count == 1)
    let part = TracedCommand(Array("w\0/ws\0\0r\0/ws/a\0\0r\0/w".utf8))
    #expect(!part.isComplete && part.records.count == 1)
    let odd = TracedCommand(
      Array("r\0/ws/a".utf8) + [0xff, 0, 0] + Array("r\0/b".utf8) + [0xff, 0, 0])
    #expect(odd.unnameable(below: "/ws") == [#"'a\xff'"#] && odd.records.isEmpty)
  }
}
