// Real tools in confined steps: they work with what is declared, and are refused what is not.

import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct ConfinedToolsTests {
  private func run(
    _ pipeline: String, _ files: [String: String], setup: String = "true"
  ) throws -> (Workspace.End, Workspace) {
    let workspace = try Workspace(named: "tools", holding: [])
    for (name, text) in files {
      let url = workspace.folder.appending(path: name)
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try text.write(to: url, atomically: false, encoding: .utf8)
    }
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    try workspace.write(pipeline, to: "pipeline.yml")
    #expect(try workspace.run(setup).status == 0)
    let end = try workspace.run("PATH=$PATH:'\(path)' oprun pipeline.yml")
    return (end, workspace)
  }

  private func expectSuccess(_ end: Workspace.End) {
    #expect(end.status == 0, "\(end.output)\(end.errors)")
  }

  private let sources = [
    "src/main.c": "#include \"util.h\"\nint main(void) { return util(); }\n",
    "src/util.c": "#include \"util.h\"\nint util(void) { return 0; }\n",
    "src/util.h": "int util(void);\n",
  ]

  @Test func `cc, as, ld and ar build a program`() throws {
    let (end, _) = try run(
      """
      steps:
        - id: objects
          run: cc -c -o build/main.o src/main.c && cc -c -o build/util.o src/util.c
          cache: {inputs: ["src/*.[ch]"], outputs: [build/main.o, build/util.o]}
        - id: library
          depends_on: [objects]
          run: ar rcs lib/libutil.a build/util.o
          cache: {inputs: [], outputs: ["lib/*"]}
        - id: program
          depends_on: [objects, library]
          run: |
            cc -o build/app build/main.o -Llib -lutil
            ./build/app
          cache: {inputs: [], outputs: [build/app]}
        - id: again
          depends_on: [program]
          run: cc -o build/app src/main.c src/util.c && ./build/app
          cache: {inputs: ["src/*.[ch]"], outputs: [build/app]}
      """, sources)
    expectSuccess(end)
  }

  @Test func `a header that is not declared is named`() throws {
    let (end, workspace) = try run(
      """
      steps:
        - id: compile
          run: cc -c -o main.o src/main.c
          cache: {inputs: ["src/*.c"], outputs: [main.o]}
      """, sources)
    #expect(end.status == 1)
    #expect(
      end.output.contains(
        """
        compilation terminated.
        [oprun: this step is confined to what its 'cache' declares: it does not declare \
        'src/util.h'; add it to 'inputs', or a pattern such as 'src/*.h'; 'oprun trace' lists \
        all files that the step uses]

        """), "\(end.output)")
    #expect(!FileManager.default.fileExists(atPath: workspace.folder.path + "/main.o"))
  }

  @Test func `Python imports what is declared, and no more`() throws {
    let files = [
      "tool.py": "import lib.good\nopen('out.json', 'w').write('{}')\n",
      "bad.py": "import lib.good, lib.bad\n", "lib/__init__.py": "", "lib/good.py": "",
      "lib/bad.py": "",
    ]
    let (end, _) = try run(
      """
      steps:
        - id: good
          run: python3 tool.py
          cache: {inputs: [tool.py, lib/__init__.py, lib/good.py], outputs: [out.json]}
      """, files)
    expectSuccess(end)
    let (refused, _) = try run(
      """
      steps:
        - id: bad
          run: python3 bad.py
          cache: {inputs: [bad.py, lib/__init__.py, lib/good.py]}
      """, files)
    #expect(refused.status == 1)
    #expect(refused.output.contains("it does not declare '"), "\(refused.output)")
    #expect(refused.output.contains("'lib/*.py'"), "\(refused.output)")
  }

  @Test func `git reads a repository that is declared`() throws {
    let setup = """
      git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one
      """
    let (end, _) = try run(
      """
      steps:
        - id: describe
          run: git describe --always >version && test -s version
          cache: {inputs: [.git], outputs: [version]}
      """, [:], setup: setup)
    expectSuccess(end)
    let (refused, _) = try run(
      """
      steps:
        - id: describe
          run: git describe --always
          cache: {inputs: []}
      """, [:], setup: setup)
    #expect(refused.status != 0)
  }

  @Test func `tar packs and unpacks`() throws {
    let (end, _) = try run(
      """
      steps:
        - id: pack
          run: tar -czf dist/src.tgz src
          cache: {inputs: [src], outputs: [dist/src.tgz]}
        - id: unpack
          depends_on: [pack]
          run: tar -xzf dist/src.tgz -C copy && cmp copy/src/util.h src/util.h
          cache: {inputs: [src/util.h], outputs: ["copy/**"]}
      """, sources)
    expectSuccess(end)
  }

  @Test func `the Swift compiler builds a program`() throws {
    let (end, _) = try run(
      """
      steps:
        - id: swift
          run: swiftc -module-cache-path "$TMPDIR/modules" -o build/hello hello.swift && ./build/hello
          cache: {inputs: [hello.swift], outputs: [build/hello]}
      """, ["hello.swift": "print(\"hello\")\n"])
    expectSuccess(end)
  }

  @Test func `what trace proposes is enough`() throws {
    let pipeline = """
      steps:
        - id: build
          run: |
            cc -c -o build/main.o src/main.c
            cc -c -o build/util.o src/util.c
            ar rcs build/libutil.a build/util.o
            cc -o build/app build/main.o build/libutil.a
            ./build/app
            tar -czf out.tgz src
            gzip -k data.txt
            python3 -c 'import sys; sys.path.insert(0, "lib"); import mod; open("o.json", "w")'
            cp data.txt copy && sed -i s/x/y/ copy

      """
    let setup = """
      mkdir build lib; echo x >data.txt; echo '1' >lib/mod.py
      oprun trace pipeline.yml build >cache.yml || exit
      rm -rf build/* out.tgz data.txt.gz o.json copy lib/__pycache__ && rmdir build
      sed 's/^/    /' cache.yml >>pipeline.yml
      """
    let (end, workspace) = try run(pipeline, sources, setup: setup)
    let proposal = try String(
      contentsOf: workspace.folder.appending(path: "cache.yml"), encoding: .utf8)
    #expect(end.status == 0, "\(proposal)\(end.output)\(end.errors)")
    #expect(FileManager.default.fileExists(atPath: workspace.folder.path + "/build/app"))
  }
}
