// Words of other tools for which there is no key here, and what takes their place.

extension Explanation {
  static func otherTools(_ word: String) -> [Explanation] {
    foreignWords[word].map { [Explanation(kind: "a key of other tools", sentence: $0)] } ?? []
  }

  static let foreignWords: [String: String] = {
    let container =
      "Steps are commands. One that starts a container is 'run: docker run --rm …'."
    let files = "Files stay where they are from step to step, so nothing passes them on."
    return [
      "image": container, "container": container, "docker": container,
      "artifacts": files, "upload": files, "persist": files,
      "extends":
        "Keys for all steps stand in 'defaults'; keys for some of them in an anchor, which '<<' merges.",
      "before_script":
        "Write it at the beginning of 'run', or make it a step that others depend on.",
      "stage":
        "The order comes from 'depends_on', from 'sequence: true', or from groups ('steps').",
      "handler_on":
        "These are four keys, at top level and in steps: on_success, on_failure, on_cancel, on_complete.",
      "handlers":
        "These are four keys, at top level and in steps: on_success, on_failure, on_cancel, on_complete.",
    ]
  }()
}
