import Plans
import Testing

@testable import oprun

@Suite struct `Help of a pipeline` {
  @Test func `lists each parameter with all that is known of it`() {
    let parameters = [
      ParameterDescription(
        name: "branch", type: "string", isRequired: true, description: "what to release"),
      ParameterDescription(name: "dry", type: "bool", defaultValue: "true"),
      ParameterDescription(
        name: "target-machine", type: "string", defaultValue: "dev", choices: ["dev", "prod"],
        description: "where it goes,\nin the end"),
      ParameterDescription(name: "note", type: "string", defaultValue: ""),
      ParameterDescription(name: "tags", type: "list"),
    ]
    #expect(
      parameterHelp(parameters, of: "a.yml") == """
        parameters of a.yml, set with --param NAME=VALUE or OPRUN_PARAM_<NAME>:
          branch          string, required: what to release
          dry             bool, default true
          target-machine  string, one of dev, prod, default dev: where it goes, in the end
          note            string, default ''
          tags            list

        """)
  }

  @Test func `says so if there are none`() {
    #expect(parameterHelp([], of: "a.yml") == "a.yml takes no parameters\n")
  }
}
