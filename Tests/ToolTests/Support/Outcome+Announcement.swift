import TestSupport

extension ToolProcess.Outcome {
  /// The messages, without the one with which a watch begins.
  var problems: String {
    errors.split(separator: "\n", omittingEmptySubsequences: false)
      .filter { !$0.contains("quake-watch: watching after ") }.joined(separator: "\n")
  }
}
