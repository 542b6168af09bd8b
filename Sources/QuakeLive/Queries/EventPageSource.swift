internal import Postgres
internal import QuakeQuery
internal import QuakeSchema

/// Reads the pages of a query, one for each demand.
struct EventPageSource: PullSource {
  private let connection: Connection
  private let size: Int64
  private var query: EventQuery
  private var remaining: Int64?
  private var isAtEnd = false

  init(
    _ query: EventQuery, size: Int64, of settings: ConnectionSettings, wake: Int32
  ) throws {
    connection = try Connection(settings, wake: wake)
    connection.interrupt = wake
    try Migrator.checkSchema(of: connection)
    self.query = query
    self.size = size
    remaining = query.limit
  }

  mutating func next() throws -> EventPage? {
    guard !isAtEnd, remaining != 0 else { return nil }
    query.limit = min(size, remaining ?? size)
    let page = try query.page(over: connection)
    remaining = remaining.map { $0 - Int64(page.events.count) }
    query.after = page.next
    isAtEnd = page.next == nil
    return page.events.isEmpty ? nil : page
  }

  mutating func pause() {}
}
