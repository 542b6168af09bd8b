import QuakeModel
import QuakeTool

/// The API under `/v1`: the queries and edits of the tools as documents.
struct APIService: Sendable {
  /// The version that documents state.
  let version: String
  /// The folder of the embedded server; nil if the database is not embedded.
  var embedded: String?
  /// Whether the server has begun to stop, so that edits stop after the transaction in progress.
  var isStopping: @Sendable () -> Bool = { false }

  var routes: [Route] {
    [
      eventsRoute, tableRoute, eventRoute, versionsRoute, statisticsRoute, historyRoute,
      differenceRoute, statusRoute, refreshRoute, deleteRoute, restoreRoute, editRestoreRoute,
      validateRoute,
    ]
  }

  static let json = "application/json"
  static let problem = "application/problem+json"
}
