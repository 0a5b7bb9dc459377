// Services in virtual time: when they are ready, when they are stopped, and what their end does.

import Plans
import Scheduling
import Testing

@testable import Running

@Suite struct `A service` {
  @Test func `lets what depends on it start at once, and is stopped after the last of it`() {
    let run = Simulation(
      graph: "&db; a: db?ready; b: db?ready; c: a", scripts: ["db": "hang", "b": "ok@3"])
    #expect(
      run.timeline()
        == "0:+db 0:db!ready 0:+a 0:+b 1:-a=0 1:a=succeeded 1:+c 2:-c=0 2:c=succeeded 3:-b=0 "
        + "3:b=succeeded 3:stop(db) 3:-db=sig15 3:db=succeeded 3:end=0")
  }

  @Test func `that others wait for in vain is named after ten seconds`() {
    var run = Simulation(graph: "&db; b: db?done; c: b", scripts: ["db": "ok@30"])
    #expect(
      run.timeline()
        == "0:+db 0:db!ready 10:notice('b'_waits_for_the_service_'db'_to_end_by_itself) "
        + "30:-db=0 30:db=succeeded 30:+b 31:-b=0 31:b=succeeded 31:+c 32:-c=0 32:c=succeeded "
        + "32:end=0")
    run.scripts = ["db": "ok@9"]
    #expect(!run.timeline().contains("notice"))
    run.graph = "&db; &web; a: db?ready; b: db?done"
    run.scripts = ["db": "hang", "web": "hang", "a": "ok@20"]
    #expect(!run.timeline().contains("notice"))
  }

  @Test func `takes no slot`() {
    let run = Simulation(graph: "&db; a: db?ready", scripts: ["db": "hang"], width: 1)
    #expect(
      run.timeline()
        == "0:+db 0:db!ready 0:+a 1:-a=0 1:a=succeeded 1:stop(db) 1:-db=sig15 1:db=succeeded 1:end=0"
    )
  }

  @Test func `is ready when its conditions hold`() {
    let run = Simulation(
      graph: "&db; a: db?ready", scripts: ["db": "hang", "db.wait.1": "1@0 1@0 ok@0"],
      decisions: ["db": "serve 2 9"], width: 1)
    #expect(
      run.timeline()
        == "0:+db 0:probe(db) 2:probe(db) 4:probe(db) 4:db!ready 4:+a 5:-a=0 5:a=succeeded "
        + "5:stop(db) 5:-db=sig15 5:db=succeeded 5:end=0")
  }

  @Test func `that is not ready in time is stopped and has failed`() {
    let run = Simulation(
      graph: "&db; a: db?ready; b: db?done", scripts: ["db": "stubborn", "db.wait.1": "1@0"],
      decisions: ["db": "serve 2 3"])
    #expect(
      run.timeline()
        == "0:+db 0:probe(db) 2:probe(db) 3:stop(db) 8:kill(db) 8:-db=sig9 "
        + "8:db=failed<it 8:a=blocked<db 8:+b 9:-b=0 9:b=succeeded 9:end=1")
  }

  @Test func `is told that a look at it hangs by its time limit`() {
    let run = Simulation(
      graph: "&db; a: db?ready", scripts: ["db": "hang", "db.wait.1": "hang"],
      decisions: ["db": "serve 2 3"])
    #expect(
      run.timeline()
        == "0:+db 0:probe(db) 3:kill(db.wait.1) 3:stop(db) 3:-db=sig15 "
        + "3:db=failed<it 3:a=blocked<db 3:end=1")
  }

  @Test(arguments: [("ok@1", "0"), ("7@1", "7"), ("sig9@1", "sig9")])
  func `that ends before it is ready has failed`(script: String, end: String) {
    let run = Simulation(
      graph: "&db; a: db?ready", scripts: ["db": script, "db.wait.1": "1@0"],
      decisions: ["db": "serve 2 9"])
    #expect(
      run.timeline()
        == "0:+db 0:probe(db) 1:-db=\(end) 1:db=failed<the service ended before it was ready "
        + "1:a=blocked<db 1:end=1")
  }

  @Test func `that cannot be started is never ready`() {
    let run = Simulation(graph: "&db; a: db?ready", scripts: ["db": "missing"])
    #expect(
      run.timeline()
        == "0:+db 0:-db=missing 0:db=failed 0:a=blocked<db 0:end=1")
  }

  @Test func `that ends too early blocks what has not started, and nothing else`() {
    let run = Simulation(
      graph: "slow; &db; a: db?ready; b: db?ready slow; c: db?readyOrDone slow; d: a",
      scripts: ["db": "ok@2", "a": "ok@4", "slow": "ok@3"])
    #expect(
      run.timeline()
        == "0:+slow 0:+db 0:db!ready 0:+a 2:-db=0 2:b=blocked<db "
        + "2:db=failed<the service ended before the steps that depend on it 3:-slow=0 3:slow=succeeded 3:+c "
        + "4:-c=0 4:c=succeeded 4:-a=0 4:a=succeeded 4:+d 5:-d=0 5:d=succeeded 5:end=1")
  }

  @Test func `that may fail and ends too early lets everything go on`() {
    let run = Simulation(
      graph: "slow; &db; a: db?ready slow", scripts: ["db": "3@1", "slow": "ok@2"],
      settings: ["db": StepSettings(allowFailure: .always)])
    #expect(
      run.timeline()
        == "0:+slow 0:+db 0:db!ready 1:-db=3 1:db=failed(allowed)<the service ended before the steps that depend on it "
        + "2:-slow=0 2:slow=succeeded 2:+a 3:-a=0 3:a=succeeded 3:end=0")
  }

  @Test func `is tried again until it was ready, and not after that`() {
    var retry = RetryPolicy()
    retry.limit = 2
    let run = Simulation(
      graph: "&db; a: db?ready", scripts: ["db": "1@1 1@3", "db.wait.1": "1@0 ok@0", "a": "ok@9"],
      settings: ["db": StepSettings(retry: retry)], decisions: ["db": "serve 2 9"])
    #expect(
      run.timeline()
        == "0:+db 0:probe(db) 1:-db=1 1:db#2in0 1:+db 1:probe(db) 1:db!ready 1:+a 4:-db=1 "
        + "4:db=failed<the service ended before the steps that depend on it 10:-a=0 10:a=succeeded 10:end=1"
    )
  }

  @Test func `that is tried again has all the time to be ready, whatever it did before`() {
    var retry = RetryPolicy()
    retry.limit = 1
    let run = Simulation(
      graph: "&db; a: db?ready", scripts: ["db": "1@2 hang", "db.wait.1": "hang 1@0 ok@0"],
      settings: ["db": StepSettings(retry: retry)], decisions: ["db": "serve 2 3"])
    #expect(
      run.timeline()
        == "0:+db 0:probe(db) 2:-db=1 2:kill(db.wait.1) 2:db#2in0 2:+db 2:probe(db) "
        + "4:probe(db) 4:db!ready 4:+a 5:-a=0 5:a=succeeded 5:stop(db) 5:-db=sig15 "
        + "5:db=succeeded 5:end=0")
  }

  @Test func `has a time limit like any step`() {
    let run = Simulation(
      graph: "&db; a: db?ready", scripts: ["db": "hang", "a": "ok@3"],
      settings: ["db": StepSettings(timeout: 2_000_000_000)])
    #expect(
      run.timeline()
        == "0:+db 0:db!ready 0:+a 2:stop(db) 2:-db=sig15! 2:db=timedOut 3:-a=0 3:a=succeeded 3:end=1"
    )
  }

  @Test func `runs its hooks after it was stopped`() {
    var hooks = Hooks()
    hooks.onSuccess = [.known(.script("bye"))]
    let run = Simulation(
      graph: "&db; a: db?ready", scripts: ["db": "hang"],
      settings: ["db": StepSettings(hooks: hooks)])
    #expect(
      run.timeline()
        == "0:+db 0:db!ready 0:+a 1:-a=0 1:a=succeeded 1:stop(db) 1:-db=sig15 1:+db.on_success.1 "
        + "2:-db.on_success.1=0 2:db=succeeded 2:end=0")
  }

  @Test func `of a service goes on until that has ended`() {
    let run = Simulation(
      graph: "&db; &web: db?ready; e2e: web?ready", scripts: ["db": "hang", "web": "stubborn"])
    #expect(
      run.timeline()
        == "0:+db 0:db!ready 0:+web 0:web!ready 0:+e2e 1:-e2e=0 1:e2e=succeeded 1:stop(web) "
        + "6:kill(web) 6:-web=sig9 6:web=succeeded 6:stop(db) 6:-db=sig15 6:db=succeeded 6:end=0")
  }

  @Test func `that was skipped lets what depends on it run`() {
    let run = Simulation(graph: "&db; a: db?ready", decisions: ["db": "skip"])
    #expect(run.timeline() == "0:db=skipped<no 0:+a 1:-a=0 1:a=succeeded 1:end=0")
  }

  @Test func `does not start if nothing can need it any more`() {
    let run = Simulation(
      graph: "m%m; bad; &db%m; a: db?ready bad", scripts: ["m": "ok@3", "bad": "1@1"],
      pools: [PoolSpec(name: "m", capacity: 1_000_000)])
    #expect(
      run.timeline()
        == "0:+bad 0:+m 1:-bad=1 1:bad=failed 1:a=blocked<bad 1:db=skipped<no step needs it "
        + "3:-m=0 3:m=succeeded 3:end=1")
  }

  @Test func `is stopped while it starts if nothing can need it any more`() {
    let run = Simulation(
      graph: "bad; &db; a: db?ready bad",
      scripts: ["bad": "1@1", "db": "hang", "db.wait.1": "1@0"], decisions: ["db": "serve 5"])
    #expect(
      run.timeline()
        == "0:+bad 0:+db 0:probe(db) 1:-bad=1 1:bad=failed 1:a=blocked<bad 1:stop(db) "
        + "1:-db=sig15 1:db=succeeded 1:end=1")
  }

  @Test func `is stopped if what depends on it is skipped`() {
    let run = Simulation(
      graph: "&db; a: db?ready", scripts: ["db": "hang"], decisions: ["a": "skip"])
    #expect(
      run.timeline()
        == "0:+db 0:db!ready 0:a=skipped<no 0:stop(db) 0:-db=sig15 0:db=succeeded 0:end=0")
  }

  @Test func `is cancelled while it starts, with the look at it`() {
    let run = Simulation(
      graph: "&db; a: db?ready", scripts: ["db": "hang", "db.wait.1": "hang"],
      decisions: ["db": "serve 2"], signals: [(2, 15)])
    #expect(
      run.timeline()
        == "0:+db 0:probe(db) 2:signal15 2:stopping(signal15) 2:a=cancelled<signal15 "
        + "2:kill(db.wait.1) 2:stop(db) 2:-db=sig15 2:db=cancelled<signal15 2:end=143")
  }

  @Test func `does not start in a run of width 0`() {
    let run = Simulation(graph: "&db; a: db?ready", width: 0)
    #expect(
      run.timeline() == "0:stopping(width) 0:db=cancelled<width 0:a=cancelled<width 0:end=1")
  }

  @Test func `is not kept by a step that waits for its end`() {
    let run = Simulation(
      graph: "&db; a: db?ready; b: db?done", scripts: ["db": "hang"])
    #expect(
      run.timeline()
        == "0:+db 0:db!ready 0:+a 1:-a=0 1:a=succeeded 1:stop(db) 1:-db=sig15 1:db=succeeded 1:+b "
        + "2:-b=0 2:b=succeeded 2:end=0")
  }

  @Test func `keeps from starting what may fail`() {
    let run = Simulation(
      graph: "&s%m; w; a%m: w; u: s?ready a", scripts: ["s": "hang"],
      settings: ["a": StepSettings(allowFailure: .always)],
      pools: [PoolSpec(name: "m", capacity: 1_000_000)])
    #expect(
      run.timeline()
        == "0:+w 0:+s 0:s!ready 1:-w=0 1:w=succeeded "
        + "1:a=failed(allowed)<cannot start: 'm' is held by running services ('s') 1:+u 2:-u=0 "
        + "2:u=succeeded 2:stop(s) 2:-s=sig15 2:s=succeeded 2:end=0")
  }

  @Test func `gives way where others hold all that is left`() {
    let run = Simulation(
      graph: "&s%m; &t%m; a%m: s?ready; b%m: t?ready", scripts: ["s": "hang", "t": "hang"],
      pools: [PoolSpec(name: "m", capacity: 2_000_000)])
    #expect(
      run.timeline()
        == "0:+s 0:+t 0:s!ready 0:t!ready "
        + "0:a=failed<cannot start: 'm' is held by running services ('s', 't') 0:stop(s) "
        + "0:-s=sig15 0:s=succeeded 0:+b 1:-b=0 1:b=succeeded 1:stop(t) 1:-t=sig15 1:t=succeeded 1:end=1"
    )
  }
}

@Suite struct `A service that nothing depends on` {
  @Test func `keeps the other steps company`() {
    let run = Simulation(graph: "&db; a; b: a", scripts: ["db": "hang"])
    #expect(
      run.timeline()
        == "0:+a 0:+db 0:db!ready 1:-a=0 1:a=succeeded 1:+b 2:-b=0 2:b=succeeded 2:stop(db) "
        + "2:-db=sig15 2:db=succeeded 2:end=0")
  }

  @Test func `fails if it ends before them`() {
    let run = Simulation(graph: "&db; a; b: a", scripts: ["db": "ok@1", "a": "ok@2"])
    #expect(
      run.timeline()
        == "0:+a 0:+db 0:db!ready 1:-db=0 1:db=failed<the service ended before the other steps of its pipeline "
        + "2:-a=0 2:a=succeeded 2:+b 3:-b=0 3:b=succeeded 3:end=1")
  }

  @Test func `does not wait for what waits for its end`() {
    let run = Simulation(graph: "&db; a; b: db?done; c: b", scripts: ["db": "hang"])
    #expect(
      run.timeline()
        == "0:+a 0:+db 0:db!ready 1:-a=0 1:a=succeeded 1:stop(db) 1:-db=sig15 1:db=succeeded 1:+b "
        + "2:-b=0 2:b=succeeded 2:+c 3:-c=0 3:c=succeeded 3:end=0")
  }

  @Test(arguments: [["db"], []])
  func `goes on until it is stopped if it was named, or is all there is`(named: [String]) {
    let run = Simulation(
      graph: named.isEmpty ? "&db" : "build; &db: build", scripts: ["db": "hang"], named: named,
      signals: [(100, 2)])
    let before = named.isEmpty ? "" : "0:+build 1:-build=0 1:build=succeeded "
    let start = named.isEmpty ? 0 : 1
    #expect(
      run.timeline()
        == "\(before)\(start):+db \(start):db!ready 100:signal2 100:stopping(signal2) 100:stop(db) "
        + "100:-db=sig2 100:db=cancelled<signal2 100:end=130".replacing("sig2 ", with: "sig15 "))
  }

  @Test func `succeeds and fails by its exit status if it goes on for its own sake`() {
    for (script, outcome) in [
      ("ok@3", "-db=0 3:db=succeeded 3:end=0"), ("4@3", "-db=4 3:db=failed 3:end=1"),
    ] {
      let run = Simulation(graph: "&db", scripts: ["db": script])
      #expect(run.timeline() == "0:+db 0:db!ready 3:\(outcome)")
    }
  }
}

@Suite struct `A group of services` {
  @Test func `is ready with its last member, and goes on until its last dependent has ended`() {
    let run = Simulation(
      graph: "&x; &y; &g: x?done y?done; a: g?ready",
      scripts: ["x": "hang", "y": "hang", "y.wait.1": "1@0 ok@0"],
      decisions: ["y": "serve 2", "g": "join"], groups: ["g": ["x", "y"]])
    #expect(
      run.timeline()
        == "0:+x 0:+y 0:probe(y) 0:x!ready 2:probe(y) 2:y!ready 2:+a 3:-a=0 3:a=succeeded "
        + "3:stop(x) 3:stop(y) 3:-x=sig15 3:x=succeeded 3:-y=sig15 3:y=succeeded 3:g=succeeded 3:end=0"
    )
  }

  @Test func `of which others need only members has each as long as it is needed`() {
    let run = Simulation(
      graph: "&x; &y; &g: x?done y?done; a: x?ready; b: a", scripts: ["x": "hang", "y": "hang"],
      decisions: ["g": "join"], groups: ["g": ["x", "y"]])
    // Nothing needs y, which keeps the others company.
    #expect(
      run.timeline()
        == "0:+x 0:+y 0:x!ready 0:y!ready 0:+a 1:-a=0 1:a=succeeded 1:stop(x) 1:+b 1:-x=sig15 1:x=succeeded "
        + "2:-b=0 2:b=succeeded 2:stop(y) 2:-y=sig15 2:y=succeeded 2:g=succeeded 2:end=0")
  }

  @Test func `with a member that fails first blocks what waits for it, and ends`() {
    let run = Simulation(
      graph: "&x; &y; &g: x?done y?done; a: g?ready",
      scripts: ["x": "hang", "y": "1@1", "y.wait.1": "1@0"],
      decisions: ["y": "serve 2", "g": "join"], groups: ["g": ["x", "y"]])
    #expect(
      run.timeline()
        == "0:+x 0:+y 0:probe(y) 0:x!ready 1:-y=1 1:y=failed<the service ended before it was ready "
        + "1:a=blocked<y 1:stop(x) 1:-x=sig15 1:x=succeeded 1:g=failed<y 1:end=1")
  }

  @Test func `that is made while running serves as well`() {
    let run = Simulation(
      graph: "list; &g: list; a: g?ready", scripts: ["x": "hang", "y": "hang"],
      decisions: ["g": "expand &x &y"], groups: ["g~": []])
    #expect(
      run.timeline()
        == "0:+list 1:-list=0 1:list=succeeded 1:g>x 1:g>y 1:+x 1:+y 1:x!ready 1:y!ready 1:+a 2:-a=0 "
        + "2:a=succeeded 2:stop(x) 2:stop(y) 2:-x=sig15 2:x=succeeded 2:-y=sig15 2:y=succeeded "
        + "2:g=succeeded 2:end=0")
  }

  @Test func `that is made of nothing lets what depends on it run`() {
    let run = Simulation(
      graph: "&g; a: g?ready", decisions: ["g": "expand"], groups: ["g~": []])
    #expect(
      run.timeline()
        == "0:g=skipped<its matrix is empty 0:+a 1:-a=0 1:a=succeeded 1:end=0")
  }
}

@Suite struct `Who waits for long` {
  @Test func `is told who holds what it waits for, once`() {
    let run = Simulation(graph: "a; b; c", scripts: ["a": "ok@35"], width: 1)
    #expect(
      run.timeline()
        == "0:+a 10:b?a 35:-a=0 35:a=succeeded 35:+b 36:-b=0 36:b=succeeded 36:+c 37:-c=0 "
        + "37:c=succeeded 37:end=0")
  }

  @Test func `is told once of who holds it, whatever else happens meanwhile`() {
    let run = Simulation(
      graph: "a%m; b%m; c", scripts: ["a": "ok@45", "c": "ok@12"],
      pools: [PoolSpec(name: "m", capacity: 1_000_000)])
    #expect(
      run.timeline()
        == "0:+a 0:+c 10:b?a 12:-c=0 12:c=succeeded 45:-a=0 45:a=succeeded 45:+b 46:-b=0 "
        + "46:b=succeeded 46:end=0")
  }

  @Test func `is told of a mutex and of a resource too`() {
    let run = Simulation(
      graph: "a%m; b%m; c", scripts: ["a": "ok@12"],
      pools: [PoolSpec(name: "m", capacity: 1_000_000)])
    #expect(
      run.timeline()
        == "0:+a 0:+c 1:-c=0 1:c=succeeded 10:b?a 12:-a=0 12:a=succeeded 12:+b 13:-b=0 13:b=succeeded "
        + "13:end=0")
  }

  @Test func `is told again when nobody who was told of holds it any more`() {
    let run = Simulation(
      graph: "a; b; c", scripts: ["a": "ok@15", "b": "ok@15"], width: 1)
    #expect(
      run.timeline()
        == "0:+a 10:b?a 15:-a=0 15:a=succeeded 15:+b 25:c?b 30:-b=0 30:b=succeeded 30:+c 31:-c=0 "
        + "31:c=succeeded 31:end=0")
  }

  @Test func `is not told where things move`() {
    let ids = (0..<30).map { "s\($0)" }
    let run = Simulation(graph: ids.joined(separator: "; "), width: 1)
    #expect(!run.timeline().contains("?"))
  }
}
