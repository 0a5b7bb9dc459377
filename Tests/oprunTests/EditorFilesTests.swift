// Files that editors make for themselves.

import Testing

@testable import oprun

struct EditorFilesTests {
  @Test(arguments: [
    "/w/.main.c.swp", "/w/.main.c.swo", "/w/.swp", "/w/4913", "/w/main.c~", "/w/#main.c#",
    "/w/.#main.c", "/w/.main.c.kate-swp", "/w/.goutputstream-X1Y2Z3", "/w/main.c___jb_tmp___",
    "main.c~",
  ])
  func `are known by their names`(path: String) {
    #expect(EditorFiles.contain(path))
  }

  @Test(arguments: [
    "/w/main.c", "/w/main.swp", "/w/.swap", "/w/49131", "/w/#", "/w/##", "/w/#main.c",
    "/w/.main.sw1",
    "/w/a~/main.c", "/w/~main.c", "",
  ])
  func `look like others in part`(path: String) {
    #expect(!EditorFiles.contain(path))
  }
}
