// Tests what reports say of steps that ran in Slurm.

import Foundation
import Plans
import Reporting
import RunFiles
import Scheduling
import Testing

@Suite struct `Reports of a run in Slurm` {
  private let fit = OperationID(0)
  private let lost = OperationID(1)
  private let here = OperationID(2)

  private func report(_ form: ReportTarget.Form) throws -> String {
    let plan = samplePlan("fit; lost; here")
    let folder = FileManager.default.temporaryDirectory.path
    let reports = ReportFiles(
      [], plan: plan,
      directory: RunDirectory(
        owning: open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), path: folder), masker: nil)
    let kinds: [RunEvent.Kind] = [
      .started(fit, .attempt(1)),
      .placed(fit, .attempt(1), CommandPlacement(job: "7_2", reason: "Resources")),
      .placed(fit, .attempt(1), CommandPlacement(job: "7_2", node: "n<3>")),
      .ended(fit, .attempt(1), CommandEnd(.exited(0))), .settled(fit, Ending(.succeeded), .itself),
      .started(lost, .attempt(1)), .placed(lost, .attempt(1), CommandPlacement(job: "8")),
      .ended(lost, .attempt(1), CommandEnd(.lost("cancelled"))),
      .settled(lost, Ending(.failed), .itself), .started(here, .attempt(1)),
      .ended(here, .attempt(1), CommandEnd(.exited(0))),
      .settled(here, Ending(.succeeded), .itself),
      .finished(RunEnd(exitStatus: 1)),
    ]
    for kind in kinds { try reports.observe(RunEvent(at: 0, kind)) }
    return try written { reports.write(form, to: $0) }
  }

  @Test func `JUnit has a property each for job, node and why it waited`() throws {
    let text = try report(.junit)
    #expect(
      text == """
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites>
        <testsuite name="sample.yml" tests="3" failures="1" errors="0" skipped="0" time="0.000">
        <testcase classname="sample.yml" name="fit" time="0.000">
        <properties>
        <property name="job" value="7_2"/>
        <property name="node" value="n&lt;3&gt;"/>
        <property name="queue reason" value="Resources"/>
        </properties>
        </testcase>
        <testcase classname="sample.yml" name="lost" time="0.000">
        <properties>
        <property name="job" value="8"/>
        </properties>
        <failure type="failed" message="lost: cancelled, job 8">sample.yml:2
        $ echo lost
        </failure>
        </testcase>
        <testcase classname="sample.yml" name="here" time="0.000"/>
        </testsuite>
        </testsuites>

        """)
  }

  @Test func `the page has them in the data of its steps`() throws {
    let page = try report(.html)
    let steps = page.split(separator: "\"steps\":").last?.prefix { $0 != "\n" } ?? ""
    #expect(
      steps == #"""
        [{"id":"fit","outcome":"succeeded","reason":"exit 0 after 0s, job 7_2 on n\u003c3> (waited: Resources)",\#
        "start":0,"end":0,"place":"sample.yml:1","command":"echo fit",\#
        "slurm":"job 7_2 on n\u003c3> (waited: Resources)","needs":[]},\#
        {"id":"lost","outcome":"failed","reason":"lost: cancelled, job 8","start":0,"end":0,\#
        "place":"sample.yml:2","command":"echo lost","slurm":"job 8","needs":[]},\#
        {"id":"here","outcome":"succeeded","reason":"exit 0 after 0s","start":0,"end":0,\#
        "place":"sample.yml:3","command":"echo here","needs":[]}]}</script>
        """#)
  }
}
