// cargo and gcc in steps share the slots of the run.

import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct `A compiler that is a tool with jobs itself` {
  @Test func `shares the slots of the run as cargo`() throws {
    let shop = try Workshop(
      waitingFor: 3,
      files: [
        "pipeline.yml": """
        max_parallel: 3
        defaults: {jobserver: true}
        steps:
          - {id: cargo, run: "cargo build -q --offline", env: {RUSTC_WRAPPER: "./rustc"}}
          - {id: other, run: ./cc other}
        """,
        "Cargo.toml":
          "[workspace]\nmembers = [\(names.map { "\"\($0)\"" }.joined(separator: ", "))]\n",
      ])
    defer { shop.remove() }
    for name in names {
      let folder = shop.folder.appending(path: "\(name)/src")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try shop.write("pub fn f() {}\n", to: "\(name)/src/lib.rs")
      try shop.write(
        "[package]\nname = \"\(name)\"\nversion = \"1.0.0\"\nedition = \"2021\"\n",
        to: "\(name)/Cargo.toml")
    }
    try shop.write(
      """
      #!/bin/sh
      case " $* " in *" --crate-name k"*) "$(dirname "$0")/cc" ;; esac
      exec "$@"

      """, to: "rustc", isProgram: true)
    #expect(try shop.run("exec oprun pipeline.yml") == 0, "\(shop.output)")
    #expect(shop.peak == 3)
    #expect(!shop.output.contains("arning"), "\(shop.output)")
  }

  private let names = (1...6).map { "k\($0)" }

  @Test func `shares the slots of the run as gcc at link time`() throws {
    let sources = (1...6).map { "f\($0).c" }
    let shop = try Workshop(
      waitingFor: 3,
      files: [
        "pipeline.yml": """
        max_parallel: 3
        defaults: {jobserver: true}
        steps:
          - {id: compile, run: gcc -O1 -flto -c *.c}
          - {id: link, run: gcc -B. -O1 -flto=jobserver -flto-partition=max *.o -o program, depends_on: [compile]}
          - {id: other, run: ./cc other, depends_on: [compile]}
          - {id: program, run: ./program, depends_on: [link]}
        """,
        "main.c": (1...6).map { "int f\($0)(int);\n" }.joined()
          + "int main(int n, char **v) { return \((1...6).map { "f\($0)(n)" }.joined(separator: " + ")) - 33; }\n",
      ])
    defer { shop.remove() }
    for (number, name) in sources.enumerated() {
      try shop.write(
        "__attribute__((noinline)) int f\(number + 1)(int n) { return n * \(number + 3); }\n",
        to: name)
    }
    try shop.write(
      """
      #!/bin/sh
      here=$(dirname "$0")
      case " $* " in *" -fltrans "*) "$here/cc" ;; esac
      exec "$LTO1" "$@"

      """, to: "lto1", isProgram: true)
    #expect(
      try shop.run("export LTO1=$(gcc -print-prog-name=lto1); exec oprun pipeline.yml") == 0,
      "\(shop.output)")
    #expect(shop.peak == 3)
    #expect(!shop.output.contains("arning"), "\(shop.output)")
  }
}
