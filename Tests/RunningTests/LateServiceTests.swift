// Services in groups whose instances get copies of their steps while running, in virtual time.

import Plans
import Scheduling
import Testing

@Suite struct `Services in groups with a matrix that is known during the run` {
  private static let graph = "z; &g/db: z; g/up: z g/db?ready; g: g/db?done g/up?done; a: g"
  private static let scripts = ["g[x]/db": "hang", "g[y]/db": "hang", "g[y]/up": "ok@3"]

  @Test func `go on in each instance until it has ended`() {
    let run = Simulation(
      graph: Self.graph, scripts: Self.scripts, decisions: ["g": "expand g[x] g[y]"],
      groups: ["g*": ["g/db", "g/up"]])
    #expect(
      run.timeline()
        == "0:+z 1:-z=0 1:z=succeeded 1:g/db>g[x]/db 1:g/up>g[x]/up 1:g>g[x] 1:g/db>g[y]/db "
        + "1:g/up>g[y]/up 1:g>g[y] 1:+g[x]/db 1:+g[y]/db 1:g[x]/db!ready 1:g[y]/db!ready "
        + "1:+g[x]/up 1:+g[y]/up 2:-g[x]/up=0 2:g[x]/up=succeeded 2:stop(g[x]/db) "
        + "2:-g[x]/db=sig15 2:g[x]/db=succeeded 2:g[x]=succeeded 4:-g[y]/up=0 "
        + "4:g[y]/up=succeeded 4:g/up=succeeded 4:stop(g[y]/db) 4:-g[y]/db=sig15 "
        + "4:g[y]/db=succeeded 4:g/db=succeeded 4:g[y]=succeeded 4:g=succeeded 4:+a 5:-a=0 "
        + "5:a=succeeded 5:end=0")
  }

  @Test func `keep the other steps of their instance company`() {
    let run = Simulation(
      graph: "z; &g/db: z; g/up: z; g: g/db?done g/up?done; a: g", scripts: Self.scripts,
      decisions: ["g": "expand g[x] g[y]"], groups: ["g*": ["g/db", "g/up"]])
    #expect(
      run.timeline()
        == "0:+z 1:-z=0 1:z=succeeded 1:g/db>g[x]/db 1:g/up>g[x]/up 1:g>g[x] 1:g/db>g[y]/db "
        + "1:g/up>g[y]/up 1:g>g[y] 1:+g[x]/up 1:+g[y]/up 1:+g[x]/db 1:+g[y]/db 1:g[x]/db!ready "
        + "1:g[y]/db!ready 2:-g[x]/up=0 2:g[x]/up=succeeded 2:stop(g[x]/db) 2:-g[x]/db=sig15 "
        + "2:g[x]/db=succeeded 2:g[x]=succeeded 4:-g[y]/up=0 4:g[y]/up=succeeded "
        + "4:g/up=succeeded 4:stop(g[y]/db) 4:-g[y]/db=sig15 4:g[y]/db=succeeded "
        + "4:g/db=succeeded 4:g[y]=succeeded 4:g=succeeded 4:+a 5:-a=0 5:a=succeeded 5:end=0")
  }

  @Test func `in the background go on until what depends on the group has ended`() {
    let run = Simulation(
      graph: "z; &g/db: z; g/up: z g/db?ready; &g: g/db?done g/up?done; a: g?ready",
      scripts: Self.scripts, decisions: ["g": "expand &g[x] &g[y]"],
      groups: ["g*": ["g/db", "g/up"]])
    #expect(
      run.timeline()
        == "0:+z 1:-z=0 1:z=succeeded 1:g/db>g[x]/db 1:g/up>g[x]/up 1:g>g[x] 1:g/db>g[y]/db "
        + "1:g/up>g[y]/up 1:g>g[y] 1:+g[x]/db 1:+g[y]/db 1:g[x]/db!ready 1:g[y]/db!ready "
        + "1:+g[x]/up 1:+g[y]/up 2:-g[x]/up=0 2:g[x]/up=succeeded 4:-g[y]/up=0 "
        + "4:g[y]/up=succeeded 4:g/up=succeeded 4:+a 5:-a=0 5:a=succeeded 5:stop(g[x]/db) "
        + "5:stop(g[y]/db) 5:-g[x]/db=sig15 5:g[x]/db=succeeded 5:g[x]=succeeded "
        + "5:-g[y]/db=sig15 5:g[y]/db=succeeded 5:g/db=succeeded 5:g[y]=succeeded 5:g=succeeded "
        + "5:end=0")
  }

  @Test func `are all needed by what depends on the step in every instance`() {
    let run = Simulation(
      graph: "z; &g/db: z; g/up: z g/db?ready; g: g/db?done g/up?done; a: g/db?ready",
      scripts: Self.scripts.merging(["a": "ok@5"]) { $1 },
      decisions: ["g": "expand g[x] g[y]"], groups: ["g*": ["g/db", "g/up"]])
    #expect(
      run.timeline()
        == "0:+z 1:-z=0 1:z=succeeded 1:g/db>g[x]/db 1:g/up>g[x]/up 1:g>g[x] 1:g/db>g[y]/db "
        + "1:g/up>g[y]/up 1:g>g[y] 1:+g[x]/db 1:+g[y]/db 1:g[x]/db!ready 1:g[y]/db!ready "
        + "1:+g[x]/up 1:+g[y]/up 1:+a 2:-g[x]/up=0 2:g[x]/up=succeeded 4:-g[y]/up=0 "
        + "4:g[y]/up=succeeded 4:g/up=succeeded 6:-a=0 6:a=succeeded 6:stop(g[x]/db) "
        + "6:stop(g[y]/db) 6:-g[x]/db=sig15 6:g[x]/db=succeeded 6:g[x]=succeeded "
        + "6:-g[y]/db=sig15 6:g[y]/db=succeeded 6:g/db=succeeded 6:g[y]=succeeded 6:g=succeeded "
        + "6:end=0")
  }

  @Test func `that fall fail their own instance`() {
    let run = Simulation(
      graph: "z; &g/db: z; g/up: z g/db?ready; &g: g/db?done g/up?done; a: g?ready",
      scripts: ["g[x]/db": "hang", "g[y]/db": "1@1", "g[y]/up": "ok@3"],
      decisions: ["g": "expand &g[x] &g[y]"], groups: ["g*": ["g/db", "g/up"]])
    #expect(
      run.timeline()
        == "0:+z 1:-z=0 1:z=succeeded 1:g/db>g[x]/db 1:g/up>g[x]/up 1:g>g[x] 1:g/db>g[y]/db "
        + "1:g/up>g[y]/up 1:g>g[y] 1:+g[x]/db 1:+g[y]/db 1:g[x]/db!ready 1:g[y]/db!ready "
        + "1:+g[x]/up 1:+g[y]/up 2:-g[y]/db=1 2:a=blocked<g[y]/db 2:g[y]/db=failed<the service ended "
        + "before the steps that depend on it 2:-g[x]/up=0 2:g[x]/up=succeeded 2:stop(g[x]/db) "
        + "2:-g[x]/db=sig15 2:g[x]/db=succeeded 2:g/db=failed<g[y]/db 2:g[x]=succeeded "
        + "4:-g[y]/up=0 4:g[y]/up=succeeded 4:g/up=succeeded 4:g[y]=failed<g[y]/db "
        + "4:g=failed<g[y]/db 4:end=1")
  }

  @Test func `are cancelled with the run`() {
    let run = Simulation(
      graph: "z; &g/db: z; g/up: z g/db?ready; &g: g/db?done g/up?done; a: g?ready",
      scripts: Self.scripts, decisions: ["g": "expand &g[x] &g[y]"],
      groups: ["g*": ["g/db", "g/up"]], signals: [(3, 15)])
    #expect(
      run.timeline()
        == "0:+z 1:-z=0 1:z=succeeded 1:g/db>g[x]/db 1:g/up>g[x]/up 1:g>g[x] "
        + "1:g/db>g[y]/db 1:g/up>g[y]/up 1:g>g[y] 1:+g[x]/db 1:+g[y]/db 1:g[x]/db!ready "
        + "1:g[y]/db!ready 1:+g[x]/up 1:+g[y]/up 2:-g[x]/up=0 2:g[x]/up=succeeded "
        + "3:signal15 3:stopping(signal15) 3:a=cancelled<signal15 3:stop(g[x]/db) "
        + "3:stop(g[y]/db) 3:stop(g[y]/up) 3:-g[x]/db=sig15 3:g[x]/db=cancelled<signal15 "
        + "3:g[x]=cancelled<signal15 3:-g[y]/db=sig15 3:g[y]/db=cancelled<signal15 "
        + "3:g/db=cancelled<signal15 3:-g[y]/up=sig15 3:g[y]/up=cancelled<signal15 "
        + "3:g[y]=cancelled<signal15 3:g/up=cancelled<signal15 3:g=cancelled<signal15 "
        + "3:end=143"
    )
  }

  @Test func `of a group without instances let what depends on it run`() {
    let run = Simulation(
      graph: "z; &g/db: z; g/up: z g/db?ready; &g: g/db?done g/up?done; a: g?ready",
      decisions: ["g": "expand"], groups: ["g*": ["g/db", "g/up"]])
    #expect(
      run.timeline()
        == "0:+z 1:-z=0 1:z=succeeded 1:g/up=skipped<its matrix is empty 1:g/db=skipped<its "
        + "matrix is empty 1:g=skipped<its matrix is empty 1:+a 2:-a=0 2:a=succeeded "
        + "2:end=0")
  }

  @Test func `in groups in such groups do the same`() {
    let run = Simulation(
      graph: "z; &g/h/db: z; g/h/up: z g/h/db?ready; &g/h: g/h/db?done g/h/up?done; "
        + "g/t: z g/h?ready; g: g/h?done g/t?done; a: g",
      scripts: ["g[x]/h[1]/db": "hang", "g[x]/h[2]/db": "hang"],
      decisions: ["g": "expand g[x]", "g[x]/h": "expand &g[x]/h[1] &g[x]/h[2]"],
      groups: ["g*": ["g/h", "g/t"], "g/h*": ["g/h/db", "g/h/up"]])
    #expect(
      run.timeline()
        == "0:+z 1:-z=0 1:z=succeeded 1:g/h/db>g[x]/h/db 1:g/h/up>g[x]/h/up 1:g/h>g[x]/h "
        + "1:g/t>g[x]/t 1:g>g[x] 1:g[x]/h/db>g[x]/h[1]/db 1:g[x]/h/up>g[x]/h[1]/up "
        + "1:g[x]/h>g[x]/h[1] 1:g[x]/h/db>g[x]/h[2]/db 1:g[x]/h/up>g[x]/h[2]/up "
        + "1:g[x]/h>g[x]/h[2] 1:+g[x]/h[1]/db 1:+g[x]/h[2]/db 1:g[x]/h[1]/db!ready "
        + "1:g[x]/h[2]/db!ready 1:+g[x]/h[1]/up 1:+g[x]/h[2]/up 2:-g[x]/h[1]/up=0 "
        + "2:g[x]/h[1]/up=succeeded 2:-g[x]/h[2]/up=0 2:g[x]/h[2]/up=succeeded "
        + "2:g[x]/h/up=succeeded 2:g/h/up=succeeded 2:+g[x]/t 3:-g[x]/t=0 3:g[x]/t=succeeded "
        + "3:g/t=succeeded 3:stop(g[x]/h[1]/db) 3:stop(g[x]/h[2]/db) 3:-g[x]/h[1]/db=sig15 "
        + "3:g[x]/h[1]/db=succeeded 3:g[x]/h[1]=succeeded 3:-g[x]/h[2]/db=sig15 "
        + "3:g[x]/h[2]/db=succeeded 3:g[x]/h/db=succeeded 3:g/h/db=succeeded "
        + "3:g[x]/h[2]=succeeded 3:g[x]/h=succeeded 3:g/h=succeeded 3:g[x]=succeeded "
        + "3:g=succeeded 3:+a 4:-a=0 4:a=succeeded 4:end=0")
  }

  @Test func `need a service outside as long as one of the instances does`() {
    let run = Simulation(
      graph: "z; &db; g/a: z; g/b: g/a db?ready; g: g/a?done g/b?done",
      scripts: ["db": "hang", "g[y]/a": "ok@4", "db.wait.1": "1@0 ok@0"],
      decisions: ["g": "expand g[x] g[y]", "db": "serve 2"],
      groups: ["g*": ["g/a", "g/b"]])
    #expect(
      run.timeline()
        == "0:+z 0:+db 0:probe(db) 1:-z=0 1:z=succeeded 1:g/a>g[x]/a 1:g/b>g[x]/b 1:g>g[x] "
        + "1:g/a>g[y]/a 1:g/b>g[y]/b 1:g>g[y] 1:+g[x]/a 1:+g[y]/a 2:-g[x]/a=0 "
        + "2:g[x]/a=succeeded 2:probe(db) 2:db!ready 2:+g[x]/b 3:-g[x]/b=0 "
        + "3:g[x]/b=succeeded 3:g[x]=succeeded 5:-g[y]/a=0 5:g[y]/a=succeeded "
        + "5:g/a=succeeded 5:+g[y]/b 6:-g[y]/b=0 6:g[y]/b=succeeded 6:g/b=succeeded "
        + "6:stop(db) 6:g[y]=succeeded 6:g=succeeded 6:-db=sig15 6:db=succeeded 6:end=0")
  }
}
