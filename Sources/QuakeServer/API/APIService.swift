import CommandLine
import Postgres
import QuakeHistory
import QuakeModel
import QuakeQuery
import QuakeTool

/// The API under `/v1`: the queries and edits of the tools as documents.
struct APIService: Sendable {
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

/// `/v1/table`: the events in the shortest form, with the cursor at which the stream of changes goes on.
extension APIService {
  /// The most events of a page, and how many there are if the request names no limit.
  private static let mostRows = 100_000
  private static let usualRows = 20_000

  /// The columns that the page shows.
  private static let usualColumns: [EventColumn] = [
    .code, .time, .updated, .latitude, .longitude, .depth, .magnitude, .magnitudeType, .place,
    .type, .status, .tsunami, .alert, .felt, .sig, .net,
  ]

  private static let tableOptions: [Option] =
    [EventQueryOptions.asOf] + FilterOptions.events + EventQueryOptions.past + [
      EventQueryOptions.sort, EventQueryOptions.columns,
      .value("limit", "N", default: "\(usualRows)", help: "at most N events, up to \(mostRows)"),
      .value("page", "CURSOR", help: "the page after this cursor"),
    ]

  var tableRoute: Route {
    Route(
      method: .get, path: "/v1/table",
      operation: Operation(
        "tableQuakes", "the events as rows, and the cursor of the changes after them",
        tag: "events",
        description: """
          The same events as `/v1/quakes`, in a third of the bytes: `columns` has the names, and each \
          element of `rows`, on a line of its own, has the values in that order. Times are milliseconds \
          since 1970; a value that is not known is null. `token` is the newest transaction that the rows \
          contain: `/v1/changes?after=TOKEN` sends every later change, without a gap and without a repeat. \
          `time` is the time of that transaction. Without `columns` the columns are \
          \(Self.usualColumns.map(\.name).joined(separator: ", ")).
          """,
        parameters: APIParameters.describe(Self.tableOptions, limit: Self.mostRows),
        answers: [
          .json(200, "The events. `Link` has the next page (rel=\"next\").", "Table")
        ]),
      caching: .untilChange, handler: .query { try table($0, $1) })
  }

  private func table(_ request: Request, _ context: QueryContext) throws -> Response {
    let connection = context.connection
    let arguments = try APIParameters.read(request, Self.tableOptions)
    var query = try Self.list(arguments, mostEvents: Self.mostRows, usually: Self.usualRows)
    let columns = try EventQueryOptions.columns(arguments) ?? Self.usualColumns
    query.columns = columns
    return try connection.atOneMoment {
      let point = try query.asOf?.resolve(over: connection)
      query.asOf = point.map { .token($0) }
      let token = try point ?? HistoryReader.latestToken(over: connection)
      var table = TableWriter(
        columns, token: token, time: try Self.moment(of: token, over: connection))
      let next = try query.read(over: connection) { try table.add($0) }
      return Self.page(try table.finish(), of: "/v1/table", request, arguments, next)
    }
  }
}

/// Writes the document of `/v1/table`: a line for each event.
struct TableWriter {
  private let columns: [EventColumn]
  private let document = JSONDocument()

  /// - Parameters:
  ///   - token: The newest transaction that the events contain.
  ///   - time: When it was committed.
  init(_ columns: [EventColumn], token: ChangeToken, time: Timestamp) {
    self.columns = columns
    document.json.beginObject()
    document.json.member("token", "\(token)")
    document.json.key("time")
    document.json.milliseconds(time)
    document.json.member("columns", columns.map(\.name))
    document.json.beginArray("rows")
    document.json.newline()
  }

  private var isEmpty = true

  mutating func add(_ event: EventRecord) throws {
    if !isEmpty { document.json.commaAndNewline() }
    isEmpty = false
    document.json.beginArray()
    for column in columns {
      if column.kind == .timestamp {
        document.json.milliseconds(event.timestamp(column))
      } else {
        document.json.value(of: column, in: event)
      }
    }
    document.json.endArray()
    try document.drainIfLarge()
  }

  /// The document of all rows.
  func finish() throws -> Document {
    document.json.newline()
    document.json.endArray()
    document.json.endObject()
    return try document.finish()
  }
}

extension JSONWriter {
  /// Writes milliseconds since 1970, with decimals if the instant has microseconds; null if there is none.
  fileprivate mutating func milliseconds(_ time: Timestamp?) {
    guard let microseconds = time?.microseconds else { return null() }
    if microseconds % 1000 == 0 {
      integer(Int(microseconds / 1000))
    } else {
      double(Double(microseconds) / 1000)
    }
  }
}
