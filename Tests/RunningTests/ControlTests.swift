// What somebody asks for while a run goes on, in virtual time.

import Plans
import Scheduling
import Testing

@testable import Running

@Suite struct `A run that is changed from outside` {
  private func simulation(
    _ graph: String, _ scripts: [String: String] = [:], width: Int = 8,
    _ requests: (Nanoseconds, String)...
  ) -> Simulation {
    Simulation(
      graph: graph, scripts: scripts, width: width, canBeChangedFromOutside: true,
      requests: requests.map { (second: $0.0, request: $0.1) })
  }

  @Test func `starts nothing while it is paused, and lets what runs go on`() {
    #expect(
      simulation(
        "a; b: a", ["a": "ok@3"], (1, "pause"), (2, "pause"), (5, "continue"), (5, "continue")
      ).timeline()
        == "0:+a 1:paused_by_anna 2:[the run is already paused] 3:-a=0 3:a=succeeded "
        + "3:notice(nothing_can_start:_the_queue_'default'_is_paused_until_'oprun_continue') "
        + "5:continued_by_anna 5:+b 5:[the run is not paused] 6:-b=0 6:b=succeeded 6:end=0")
  }

  @Test func `starts as many as its new width lets start at once`() {
    #expect(
      simulation("a; b; c; d", ["a": "ok@4"], width: 1, (1, "width 3"), (2, "width 1")).timeline()
        == "0:+a 1:queue_'default'_set_to_max_parallel_3_by_anna 1:+b 1:+c "
        + "2:queue_'default'_set_to_max_parallel_1_by_anna 2:-b=0 2:b=succeeded 2:-c=0 "
        + "2:c=succeeded 4:-a=0 4:a=succeeded 4:+d 5:-d=0 5:d=succeeded 5:end=0")
  }

  @Test func `runs what got a higher priority, and what that needs, before others`() {
    #expect(
      simulation(
        "a; b; c; d: c", ["a": "ok@2"], width: 1, (1, "priority 9 d")
      ).timeline()
        == "0:+c 1:'d'_set_to_priority_9_by_anna 1:-c=0 1:c=succeeded 1:+d 2:-d=0 2:d=succeeded "
        + "2:+a 4:-a=0 4:a=succeeded 4:+b 5:-b=0 5:b=succeeded 5:end=0")
  }

  @Test func `cancels one step, blocks what needs it, and has not succeeded`() {
    #expect(
      simulation("a; b: a; c", ["a": "hang", "c": "ok@3"], (1, "cancel a")).timeline()
        == "0:+a 0:+c 1:'a'_cancelled_by_anna 1:stop(a) 1:-a=sig15 1:a=cancelled<anna "
        + "1:b=blocked<a 3:-c=0 3:c=succeeded 3:end=1")
    #expect(
      simulation("a; b: a; c: b", ["a": "ok@2"], (1, "cancel b"), (3, "cancel a")).timeline()
        == "0:+a 1:'b'_cancelled_by_anna 1:b=cancelled<anna 1:c=blocked<b 2:-a=0 2:a=succeeded "
        + "2:end=1")
  }

  @Test func `refuses to cancel what is being stopped because nothing needs it`() {
    #expect(
      simulation(
        "&s; a: s?ready; b", ["s": "stubborn", "b": "ok@9"], (3, "cancel s"), (4, "cancel a")
      ).timeline()
        == "0:+b 0:+s 0:s!ready 0:+a 1:-a=0 1:a=succeeded 1:stop(s) "
        + "3:['s' is already being stopped: no step needs it] 4:['a' has ended] "
        + "6:kill(s) 6:-s=sig9 6:s=succeeded 9:-b=0 9:b=succeeded 9:end=0")
  }

  @Test func `runs no step again that has not run, and cannot because of what it depends on`() {
    #expect(
      simulation(
        "a; b: a; c", ["a": "hang ok@2", "c": "ok@9"], (1, "cancel b"), (2, "cancel a"),
        (3, "retry b"), (4, "retry a"), (5, "retry b")
      ).timeline()
        == "0:+a 0:+c 1:'b'_cancelled_by_anna 1:b=cancelled<anna 2:'a'_cancelled_by_anna 2:stop(a) "
        + "2:-a=sig15 2:a=cancelled<anna "
        + "3:['b' has not run, and cannot run because of how 'a' ended: retry that step first] "
        + "4:'a'_started_again_by_anna 4:a~cancelled 4:+a 5:'b'_started_again_by_anna 5:b~cancelled "
        + "6:-a=0 6:a=succeeded 6:+b 7:-b=0 7:b=succeeded 9:-c=0 9:c=succeeded 9:end=0")
  }

  @Test func `ends like one that got TERM, and kills what goes on when it is asked again`() {
    #expect(
      simulation("a; b: a", ["a": "stubborn"], (1, "cancel"), (2, "cancel")).timeline()
        == "0:+a 1:cancelled_by_anna 1:stopping(anna) 1:b=cancelled<anna 1:stop(a) "
        + "2:cancelled_by_anna 2:kill(a) 2:-a=sig9 2:a=cancelled<anna 2:end=143")
  }

  @Test func `runs a failed step again, and asks what was blocked because of it again`() {
    #expect(
      simulation(
        "a; b: a; c: b; d; e: d?failed", ["a": "1@1 ok@1", "d": "ok@9"], (3, "retry a")
      ).timeline()
        == "0:+a 0:+d 1:-a=1 1:a=failed 1:b=blocked<a 1:c=blocked<a "
        + "3:'a'_started_again_by_anna 3:a~failed 3:b~blocked 3:c~blocked 3:+a 4:-a=0 "
        + "4:a=succeeded 4:+b 5:-b=0 5:b=succeeded 5:+c 6:-c=0 6:c=succeeded 9:-d=0 "
        + "9:d=succeeded 9:e=skipped<d 9:end=0")
  }

  @Test func `leaves blocked what something else blocks, and lets go on what the failure started`()
  {
    #expect(
      simulation(
        "a; b; c: a b; d: a?failed; e; f: a?failed e",
        ["a": "1@1 ok@1", "b": "1@1", "d": "ok@4", "e": "ok@6"],
        (2, "retry a")
      ).timeline()
        == "0:+a 0:+b 0:+e 1:-a=1 1:a=failed 1:c=blocked<a 1:+d 1:-b=1 1:b=failed "
        + "2:'a'_started_again_by_anna 2:a~failed 2:+a 3:-a=0 3:a=succeeded 5:-d=0 5:d=succeeded "
        + "6:-e=0 6:e=succeeded 6:f=skipped<a 6:end=1")
  }

  @Test func `a group is not cancelled because of a step that ran again`() {
    var run = simulation(
      "a; b; g: a?done b?done", ["a": "hang ok@1", "b": "hang"], (1, "cancel a"), (2, "retry a"))
    run.decisions = ["g": "join"]
    run.groups = ["g": ["a", "b"]]
    run.signals = [(5, 15)]
    #expect(
      run.timeline()
        == "0:+a 0:+b 1:'a'_cancelled_by_anna 1:stop(a) 1:-a=sig15 1:a=cancelled<anna "
        + "2:'a'_started_again_by_anna 2:a~cancelled 2:+a 3:-a=0 3:a=succeeded 5:signal15 "
        + "5:stopping(signal15) 5:stop(b) 5:-b=sig15 5:b=cancelled<signal15 "
        + "5:g=cancelled<signal15 5:end=143")
  }

  @Test func `runs a step again that failed a second time, with its own retries`() {
    var retry = RetryPolicy()
    retry.limit = 1
    var run = simulation(
      "a; d", ["a": "1@1 1@1 1@1 ok@1", "d": "ok@9"], (4, "retry a"))
    run.settings = ["a": StepSettings(retry: retry)]
    #expect(
      run.timeline()
        == "0:+a 0:+d 1:-a=1 1:a#2in0 1:+a 2:-a=1 2:a=failed 4:'a'_started_again_by_anna "
        + "4:a~failed 4:+a 5:-a=1 5:a#4in0 5:+a 6:-a=0 6:a=succeeded 9:-d=0 9:d=succeeded 9:end=0")
  }

  @Test func `the hooks of a step that runs again are further commands`() {
    var run = simulation(
      "a; d", ["a": "1@1 1@1 ok@1", "d": "ok@20"], (4, "retry a"), (8, "retry a"))
    let hook = HookCommand.known(.script("hook"), timeout: HookCommand.defaultTimeout)
    var hooks = Hooks()
    hooks.onFailure = [hook]
    hooks.onComplete = [hook]
    run.settings = ["a": StepSettings(hooks: hooks)]
    let starts = run.timeline().split(separator: " ").filter { $0.contains(/:\+a/) }
    #expect(
      starts == [
        "0:+a", "1:+a.on_failure.1", "2:+a.on_complete.1", "4:+a", "5:+a.on_failure.1@2",
        "6:+a.on_complete.1@2", "8:+a", "9:+a.on_complete.1@3",
      ])
  }

  @Test func `starts the next attempt at once when it is asked for`() {
    var retry = RetryPolicy()
    retry.limit = 1
    retry.delay = 60_000_000_000
    var run = simulation("a", ["a": "1@1 ok@1"], (3, "retry a"))
    run.settings = ["a": StepSettings(retry: retry)]
    #expect(
      run.timeline()
        == "0:+a 1:-a=1 1:a#2in60 3:'a'_started_again_by_anna 3:+a 4:-a=0 4:a=succeeded 4:end=0")
  }

  @Test func `runs a member of a group again, and the group with it`() {
    var run = simulation(
      "x; y; g: x?done y?done; h: g; d", ["x": "1@1 ok@1", "d": "ok@9"], (3, "retry x"))
    run.groups = ["g": ["x", "y"]]
    run.decisions = ["g": "join"]
    #expect(
      run.timeline()
        == "0:+x 0:+y 0:+d 1:-x=1 1:x=failed 1:-y=0 1:y=succeeded 1:g=failed<x 1:h=blocked<x "
        + "3:'x'_started_again_by_anna 3:x~failed 3:g~failed 3:h~blocked 3:+x 4:-x=0 "
        + "4:x=succeeded 4:g=succeeded 4:+h 5:-h=0 5:h=succeeded 9:-d=0 9:d=succeeded 9:end=0")
  }

  @Test func `runs no member of a group with a limit of its own again`() {
    var run = simulation(
      "x; y; g: x?done y?done; d", ["x": "1@1 ok@1", "y": "ok@5", "d": "ok@9"], (3, "retry x"))
    run.groups = ["g": ["x", "y"]]
    run.decisions = ["g": "join"]
    #expect(run.timeline().contains("3:'x'_started_again_by_anna"))
    run.widths = ["g": 2]
    #expect(run.timeline().contains("3:['x' cannot run again: 'g' has ended]"))
  }

  @Test func `cancels a service that is being stopped because it is not ready`() {
    var run = simulation(
      "&s; a: s?ready; b", ["s": "stubborn", "s.wait.1": "1@0", "b": "ok@30"], (6, "cancel s"))
    run.decisions = ["s": "serve 2 5"]
    #expect(run.timeline().contains(" 5:stop(s) 6:'s'_cancelled_by_anna "))
    #expect(run.timeline().contains(":s=cancelled<anna "))
  }

  @Test func `cancels a group whose outputs are not known yet`() {
    var run = simulation("g/a; g: g/a?done; c: g; d", ["d": "ok@9"], (3, "cancel g"))
    run.groups = ["g^": ["g/a"]]
    run.decisions = ["g": "later"]
    let start = "0:+g/a 0:+d 1:-g/a=0 1:g/a=succeeded 3:'g'_cancelled_by_anna "
    let end = "9:-d=0 9:d=succeeded 9:end=1"
    #expect(run.timeline() == start + "3:g=cancelled<anna 3:c=blocked<g " + end)
    // What the limit of a group would end has ended.
    run.settings = ["g": StepSettings(timeout: 2_000_000_000)]
    #expect(run.timeline() == start + "3:g=cancelled<anna 3:c=blocked<g " + end)
    run.settings = ["g": StepSettings(hooks: .ofEachKind)]
    #expect(
      run.timeline() == start + "3:+g.on_cancel.1 4:-g.on_cancel.1=0 4:+g.on_complete.1 "
        + "5:-g.on_complete.1=0 5:g=cancelled<anna 5:c=blocked<g " + end)
  }

  @Test func `refuses what cannot be, and says why`() {
    #expect(
      simulation(
        "a; b: a; c; s; t: s?failed", ["a": "1@1", "c": "stubborn"], (2, "retry b"), (2, "retry c"),
        (2, "retry s"),
        (2, "retry t"), (2, "cancel a"), (2, "width 8"), (3, "cancel"), (4, "pause")
      ).timeline()
        == "0:+a 0:+s 0:+c 1:-a=1 1:a=failed 1:b=blocked<a 1:-s=0 1:s=succeeded 1:t=skipped<s "
        + "2:['b' is blocked because of 'a': retry that step] 2:['c' has not ended] "
        + "2:['s' has succeeded: only a step that failed or was cancelled can be retried] "
        + "2:['t' was skipped: only a step that failed or was cancelled can be retried] 2:['a' has ended] "
        + "2:[max_parallel is already 8] 3:cancelled_by_anna 3:stopping(anna) 3:stop(c) "
        + "4:[the run is being stopped: no step can start] 8:kill(c) 8:-c=sig9 "
        + "8:c=cancelled<anna 8:end=143")
  }
}
