import CommandLine
import Postgres
import QuakeHistory
import QuakeModel
import QuakeTool

extension APIService {
  /// The most changes of a page.
  private static let mostChanges = 10_000
  private static let usualChanges = 1000

  private static let historyOptions: [Option] =
    HistoryQueryOptions.selection + [
      .value("limit", "N", help: "at most N changes; by default \(usualChanges)"),
      .value("page", "CURSOR", help: "the page after this cursor"),
    ]

  var historyRoute: Route {
    Route(
      method: .get, path: "/v1/history",
      operation: Operation(
        "listChanges", "committed changes, in commit order", tag: "history",
        description: """
          By default the changes from the oldest one that the history still holds. A change is what \
          `quake-query history --json` prints; it must meet all conditions, and meets a condition on the \
          event if the event met it before or after the change. If there are more changes, the header \
          `Link` has the address of the next page; `next` is its cursor, else null.
          """,
        parameters: APIParameters.describe(Self.historyOptions, limit: Self.mostChanges),
        answers: [
          .json(200, "The changes. `Link` has the next page (rel=\"next\").", "Changes"),
          .problem(410, "The history of that time was purged."),
        ]),
      caching: .untilChange, isExpensive: true, handler: .query { try Self.changes($0, $1) })
  }

  private static func changes(_ request: Request, _ context: QueryContext) throws -> Response {
    let arguments = try APIParameters.read(request, historyOptions)
    var query = try HistoryQueryOptions.query(arguments)
    let limit = try arguments.integer("limit", in: 1...mostChanges) ?? usualChanges
    // One more tells whether there is a next page.
    query.limit = Int64(limit) + 1
    if let text = arguments.string("page"), !text.isEmpty {
      guard let position = ChangePosition(text) else {
        throw HTTPError(
          400, "The cursor is malformed. Use the one that came with the page before, unchanged.")
      }
      query.afterChange = position
    }
    let connection = context.connection
    let document = JSONDocument()
    document.json.hidesSessions = !request.seesSessions
    document.json.beginObject()
    document.json.beginArray("changes")
    var (count, last, hasMore) = (0, nil as ChangePosition?, false)
    // Not in a transaction: the reader cancels a statement that returns too much, and repeats it for less.
    try withPagePlans(connection) {
      var reader = try HistoryQueryReader(query, over: connection)
      while try !reader.readPage({ change in
        guard count < limit else {
          hasMore = true
          return
        }
        count += 1
        last = ChangePosition(of: change)
        try document.element { try $0.change(change, drain: $1) }
      }) {}
    }
    let next = hasMore ? last.map { "\($0)" } : nil
    document.json.endArray()
    document.json.member("next", next)
    document.json.endObject()
    var response = Response(body: .document(try document.finish()))
    response.mayBeKept = !APIParameters.dependOnNow(request)
    if let next {
      response.headers.append("Link", link(to: "/v1/history", request, page: next))
    }
    return response
  }

  /// Runs `body` with the plans that `HistoryQueryReader` needs. What it would set for the rest of the session
  /// is undone, and its statements, whose text depends on the parameters, are not kept.
  private static func withPagePlans(_ connection: Connection, _ body: () throws -> Void) throws {
    guard connection.keepsStatements else { return try body() }
    connection.keepsStatements = false
    defer { connection.keepsStatements = true }
    try connection.execute("set enable_bitmapscan = off")
    do {
      try body()
    } catch {
      try connection.execute("reset enable_bitmapscan")
      throw error
    }
    try connection.execute("reset enable_bitmapscan")
  }
}

/// `/v1/diff`: the net changes between two points of the history.
extension APIService {
  /// The most events of a page.
  private static let mostDifferences = 10_000
  private static let usualDifferences = 1000

  private static let differenceOptions: [Option] = [
    .value(
      "from", "TOKEN|NUMBER|TIME",
      help: "a token, a transaction's number or a time; 0 is the start of the history"),
    .value("to", "TOKEN|NUMBER|TIME", help: "the same; by default now"),
    .value("limit", "N", help: "at most N differences; by default \(usualDifferences)"),
    .value("page", "CURSOR", help: "the page after this cursor"),
  ]

  var differenceRoute: Route {
    var parameters = APIParameters.describe(Self.differenceOptions, limit: Self.mostDifferences)
    parameters[0].isRequired = true  // from
    return Route(
      method: .get, path: "/v1/diff",
      operation: Operation(
        "listDifferences", "the net changes between two points of the history, by code",
        tag: "history",
        description: """
          Changes that were undone later are left out. If `from` is later than `to`, the differences would \
          undo the changes in between. Each one is what `quake-query diff --json` prints. If there may be more, \
          the header `Link` has the address of the next page; `next` is its cursor, else null. All pages are \
          between the points of the first one, so each needs the same `from` and `to`. A page may have fewer differences than `limit`, or none.
          """,
        parameters: parameters,
        answers: [
          .json(200, "The differences. `Link` has the next page (rel=\"next\").", "Differences"),
          .problem(410, "The history of that time was purged."),
        ]),
      caching: .untilChange, isExpensive: true, handler: .query { try Self.differences($0, $1) })
  }

  private static func differences(
    _ request: Request, _ context: QueryContext
  ) throws -> Response {
    let arguments = try APIParameters.read(request, differenceOptions)
    guard let text = arguments.string("from") else {
      throw HTTPError(400, "The parameter from is missing: a token, a number or a time.")
    }
    let from = try arguments.place(text)
    let upTo = arguments.string("to")
    let to = try upTo.map { try arguments.place($0) }
    let limit = try arguments.integer("limit", in: 1...mostDifferences) ?? usualDifferences
    let cursor = try arguments.string("page").flatMap { $0.isEmpty ? nil : $0 }.map {
      try DifferenceCursor($0, from: text, to: upTo ?? "")
    }
    let connection = context.connection
    let document = JSONDocument()
    let next = try connection.transaction(.repeatableRead, readOnly: true) {
      let first = try cursor?.first ?? from.resolve(over: connection)
      let last =
        try cursor?.last ?? to?.resolve(over: connection)
        ?? HistoryReader.latestToken(over: connection)
      document.json.beginObject()
      document.json.member("from", "\(first)")
      document.json.member("to", "\(last)")
      document.json.beginArray("differences")
      let code = try HistoryDifference.readPage(
        from: first, to: last, after: cursor?.code, limit: limit, over: connection
      ) { difference in
        try document.element { try $0.difference(difference, drain: $1) }
      }
      return code.map {
        DifferenceCursor(first: first, last: last, from: text, to: upTo ?? "", code: $0).description
      }
    }
    document.json.endArray()
    document.json.member("next", next)
    document.json.endObject()
    var response = Response(body: .document(try document.finish()))
    response.mayBeKept = !APIParameters.dependOnNow(request)
    if let next { response.headers.append("Link", link(to: "/v1/diff", request, page: next)) }
    return response
  }
}

/// Where a page of differences begins. It holds the points of the history, which may be given as ages, so that all
/// pages are between the same ones; and how the request named them, since another request has other points.
struct DifferenceCursor: CustomStringConvertible {
  let first, last: ChangeToken
  /// What the request had as `from` and `to`; `to` is empty if it had none.
  let from, to: String
  /// The code of the last event before the page.
  let code: String

  init(first: ChangeToken, last: ChangeToken, from: String, to: String, code: String) {
    (self.first, self.last, self.from, self.to, self.code) = (first, last, from, to, code)
  }

  /// Reads the cursor of a request, whose points must be those of the page before.
  init(_ text: String, from: String, to: String) throws(HTTPError) {
    guard let cursor = DifferenceCursor(text) else {
      throw HTTPError(
        400, "The cursor is malformed. Use the one that came with the page before, unchanged.")
    }
    guard cursor.from == from, cursor.to == to else {
      throw HTTPError(
        400,
        "The cursor belongs to another request. Repeat from and to of the first page, unchanged.")
    }
    self = cursor
  }

  /// Reads a cursor; nil if it is malformed.
  init?(_ text: String) {
    let parts = text.split(separator: "~", maxSplits: 4, omittingEmptySubsequences: false)
      .map { String($0) }
    guard parts.count == 5, let first = ChangeToken(parts[0]), let last = ChangeToken(parts[1]),
      !parts[4].isEmpty, parts[4].utf8.count <= 3 * 1024
    else { return nil }
    self.init(first: first, last: last, from: parts[2], to: parts[3], code: Self.code(parts[4]))
    guard description == text else { return nil }
  }

  /// SQL may have written codes with control characters, which no address may have: they are escaped, with the percent
  /// sign, before the address is.
  var description: String {
    let code = code.utf8.flatMap { byte -> [UInt8] in
      guard byte < 0x20 || byte == 0x7F || byte == UInt8(ascii: "%") else { return [byte] }
      return Array(PercentEncoding.text(String(UnicodeScalar(byte))).utf8)
    }
    return "\(first)~\(last)~\(from)~\(to)~\(String(decoding: code, as: UTF8.self))"
  }

  private static func code(_ text: String) -> String {
    let bytes = Array(text.utf8)
    var code: [UInt8] = []
    var place = 0
    while place < bytes.count {
      if bytes[place] == UInt8(ascii: "%"), place + 2 < bytes.count,
        let byte = PercentEncoding.byte(bytes[place + 1], bytes[place + 2])
      {
        code.append(byte)
        place += 3
      } else {
        code.append(bytes[place])
        place += 1
      }
    }
    return String(decoding: code, as: UTF8.self)
  }
}
