import CommandLine
import QuakeStore
import QuakeTool

/// A poll that brought a snapshot which had to be set aside.
struct QuarantinedSnapshot: Error {
  let summary: ImportSummary

  /// As a person is told of it.
  var failure: Failure {
    let verdict = summary.report.quarantine
    return Failure(
      .badData,
      "the snapshot was set aside as \(verdict?.reason.rawValue ?? "bad")", detail: verdict?.detail,
      hint: summary.report.id.map {
        "See \"quake-admin imports\", import \($0); \"quake-admin imports apply \($0)\" applies it all the same."
      })
  }
}
