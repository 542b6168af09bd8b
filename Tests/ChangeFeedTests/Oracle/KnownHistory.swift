import Postgres
import TestSupport

/// What was committed, read from the tables with plain SQL: every change in its order, and which of
/// them each filter should let through.
struct KnownHistory {
  /// A selection of `quake-watch`, and the same in SQL. The condition may use `op`, `author`,
  /// `changed`, and the event before and after: `(o)` and `(n)`, null where there is none.
  struct Filter: Sendable {
    let name: String
    let options: [String]
    let condition: String
  }

  /// All changes, in the order of commits.
  private(set) var changes: [FeedLine] = []
  /// Where each transaction's changes begin.
  private(set) var starts: [Int64: Int] = [:]
  /// For each filter, by name, which changes pass.
  private(set) var passes: [String: [Bool]] = [:]

  /// A history made by hand.
  init(_ changes: [FeedLine], passes: [String: [Bool]] = [:]) {
    self.passes = passes
    for change in changes { append(change) }
  }

  /// Reads the tables.
  init(over connection: Connection, filters: [Filter] = []) throws {
    let columns = filters.map { ", coalesce((\($0.condition)), false)" }
    let query = """
      select token, nonce, position, op, code\(columns.joined())
        from (select t.token, t.nonce, row_number() over (partition by t.token order by v.id) - 1 as position,
                     v.op, v.code, v.changed, t.author, v.id,
                     case when v.op in ('insert', 'update') then v end as n,
                     case when v.op = 'delete' then v
                          when v.op = 'update' then lag(v) over (partition by v.code order by v.id) end as o
                from quake.change_transaction t
                join quake.quake_version v on v.transaction_id = t.transaction_id) c
       order by token, id
      """
    let result = try connection.execute(SQL(trusted: query))
    var masks = filters.map { _ in [Bool]() }
    for row in 0..<result.rowCount {
      guard let token = result.integer(row, 0), let nonce = result.text(row, 1),
        let position = result.integer(row, 2), let op = result.text(row, 3)?.utf8.first,
        let kind = FeedLine.Kind(rawValue: op)
      else { throw ToolProcess.Failure(description: "the history holds an incomplete row") }
      append(
        FeedLine(
          token: token, nonce: UInt32(nonce, radix: 16) ?? 0, position: Int32(position),
          kind: kind, code: FeedLine.checksum(result.bytes(row, 4)), digest: 0))
      for filter in filters.indices {
        masks[filter].append(result.bool(row, 5 + filter) ?? false)
      }
    }
    for (filter, mask) in zip(filters, masks) { passes[filter.name] = mask }
  }

  private mutating func append(_ change: FeedLine) {
    if starts[change.token] == nil { starts[change.token] = changes.count }
    changes.append(change)
  }

  /// The place of a change of this transaction and position; nil if there is none.
  func index(token: Int64, position: Int32) -> Int? {
    guard let start = starts[token], position >= 0 else { return nil }
    let index = start + Int(position)
    guard index < changes.count, changes[index].token == token else { return nil }
    return index
  }

  /// The first change after a transaction.
  func end(of token: Int64) -> Int? {
    guard token > 0 else { return 0 }
    guard var index = starts[token] else { return nil }
    while index < changes.count, changes[index].token == token { index += 1 }
    return index
  }
}
