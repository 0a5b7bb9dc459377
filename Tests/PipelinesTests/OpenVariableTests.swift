// Variables whose value depends only on how a run is started, in commands that run nothing.

import Testing

struct `A variable made of inherited ones` {
  @Test func `is known to what stands behind it`() {
    let text = """
      params: {p: {type: string}}
      env: {PATH: "/opt/x:${{ env.PATH }}", B: "${{ env.PATH }}${{ params.p }}", A: "${{ run.id }}"}
      steps:
        - {id: a, run: x, env: {PATH: "/opt/y:${{ env.PATH }}", C: "${{ env.B }}"}, if: "env.B == 'x'"}
      """
    #expect(messages(text) == [])
  }

  @Test func `is not known if the run alone knows what it is made of`() {
    let text = """
      env: {A: "${{ run.id }}", B: "${{ env.A }}", C: "${{ env.B }}", D: "${{ hashFiles('x') }}"}
      steps:
        - {id: a, run: x, env: {X: "${{ env.D }}"}}
      """
    func message(_ name: String) -> String {
      "the value of variable '\(name)' is known only to the command"
    }
    #expect(
      messages(text) == [
        "1:35: \(message("A"))", "1:54: \(message("B"))", "3:35: \(message("D"))",
      ])
  }

  @Test func `is what it was before where it is written`() {
    let text = """
      env: {B: "${{ env.A }}", A: "${{ run.id }}", C: "${{ run.id }}${{ env.C }}"}
      steps:
        - {id: a, run: x, env: {X: "${{ env.B }}"}}
      """
    #expect(messages(text) == [])
  }
}
