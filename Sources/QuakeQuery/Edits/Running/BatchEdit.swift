internal import Basics
package import Postgres
internal import QuakeHistory
internal import QuakeModel

/// Runs a batch edit: many short transactions, so that no lock lasts.
///
/// The events are selected once, at the start. Each transaction then changes those that still meet the
/// conditions. It never waits for a row that another session has locked, but comes back to it. If the edit is
/// interrupted, all transactions before are committed, and the same edit again does the rest.
package struct BatchEdit {
  private let edit: EventEdit
  private let connection: Connection

  /// An edit over a connection, which nothing else uses while it runs.
  package init(_ edit: EventEdit, over connection: Connection) {
    self.edit = edit
    self.connection = connection
  }

  /// Computes the effects of the edit without making it.
  ///
  /// - Parameter sample: The most events to return.
  /// - Throws: `StoreError` of kind `usage` or `badData` if the events cannot get the values;
  ///   `PostgresError`.
  package func plan(sample: Int = 10) throws -> EditPlan {
    try edit.selection.filter.check()
    return try connection.transaction(.repeatableRead, readOnly: true) {
      try AssignmentCheck.run(edit, over: connection)
      let conditions = EditConditions(edit).text
      let most = edit.selection.limit ?? .max
      let found = try connection.row(
        """
        with chosen as (
          select q.code from quake.quake q where \(sql: conditions)
           \(sql: edit.selection.limit == nil ? "" : Self.order) limit \(most)
        )
        select count(*) \(sql: edit.action.deletes ? "+ (select count(*) from (\(sql: DeleteStatement.superseded)) s)" : "")
          from chosen
        """, as: Int64.self)
      let rows = try connection.execute(
        """
        select \(sql: EventColumn.list(of: "q")) from quake.quake q where \(sql: conditions)
         \(sql: Self.order) limit \(min(Int64(sample), most))
        """, format: .binary)
      var events: [EventRecord] = []
      for row in 0..<rows.rowCount { events.append(try rows.record(row, firstColumn: 0)) }
      return EditPlan(count: found, sample: events)
    }
  }

  /// Makes the edit.
  ///
  /// - Parameters:
  ///   - shouldStop: Is asked after each transaction. The same edit again does the rest.
  ///   - progress: Is called after each transaction with the number of events that are done, and of all that
  ///     were selected.
  /// - Throws: As `plan`, before anything is changed; `StoreError` of kind `locked` if other sessions keep
  ///   events locked; `PostgresError`. The transactions before are committed.
  package func run(
    shouldStop: () -> Bool = { false },
    progress: (_ done: Int64, _ selected: Int64) -> Void = { _, _ in }
  ) throws -> EditOutcome {
    try edit.selection.filter.check()
    try AssignmentCheck.run(edit, over: connection)
    var outcome = EditOutcome()
    let interrupted = try EditJournal.interrupted(
      edit.action.name, title: edit.title, by: edit.author, over: connection)
    let codes = try select(without: interrupted?.before ?? 0)
    outcome.selected = codes.count
    guard interrupted != nil || codes.count > 0 else {
      outcome.isFinished = true
      return outcome
    }
    let journal =
      try interrupted
      ?? .begin(edit.action.name, title: edit.title, by: edit.author, over: connection)
    progress(0, outcome.selected)
    try journal.run(codes, &outcome, done: "done", shouldStop, progress) { chunk, outcome, locked in
      let changed = try change(chunk, journal, &locked)
      outcome.changed += changed
      return changed > 0
    }
    return outcome
  }

  /// Those of the codes that no event has. An edit that deletes counts an event that was deleted before as
  /// known, because it may be one that an interrupted run of the edit deleted.
  package func unknown(_ codes: [String]) throws -> [String] {
    let deleted: SQL =
      edit.action.deletes
      ? "and not exists (select from quake.tombstone t where t.code = i.code)" : ""
    return try connection.rows(
      """
      select i.code from unnest(\(codes.filter { !$0.utf8.contains(0) })::text[]) i (code)
       where not exists (select from quake.quake q where q.code = i.code) \(sql: deleted)
       order by i.code collate "C"
      """, as: String.self)
  }

  static let order: SQL = "order by q.time, q.code collate \"C\""

  /// - Parameter done: The events that an earlier run of the edit has changed, which count for the limit.
  private func select(without done: Int64) throws -> CodeList {
    var codes = CodeList()
    let limit: SQL = edit.selection.limit.map { "limit \(max(0, $0 - done))" } ?? ""
    try connection.forEachRow(
      """
      select q.code from quake.quake q
       where \(sql: EditConditions(edit).text) \(sql: Self.order) \(sql: limit)
      """
    ) { row in codes.append(contentsOf: try row.bytes("code")) }
    return codes
  }

  /// Changes events in one transaction. Those that other sessions have locked are added to `locked`.
  private func change(
    _ codes: [String], _ journal: EditJournal, _ locked: inout CodeList
  ) throws -> Int64 {
    do {
      var skipped: [String] = []
      let changed = try journal.transaction {
        let (chosen, changed, code) = try connection.row(
          statement(codes, journal), as: (Int, Int64, String?).self)
        if chosen < codes.count { skipped = try remaining(of: codes) }
        return (changed, code)
      }
      for code in skipped { locked.append(code) }
      return changed
    } catch let error as PostgresError where EditJournal.mayRepeat(error) {
      for code in codes { locked.append(code) }
      return 0
    } catch let error as PostgresError where error.sqlState == SQLState.checkViolation {
      // An event has changed since the first check.
      try AssignmentCheck.run(edit, over: connection)
      throw error
    }
  }

  /// The events that meet the conditions although the transaction was to change them.
  private func remaining(of codes: [String]) throws -> [String] {
    let conditions = EditConditions(edit, amongKnown: true).text
    return try connection.rows(
      """
      select q.code from quake.quake q
       where q.code = any (\(codes)::text[]) and \(sql: conditions)
      """, as: String.self)
  }

  /// The statement that changes events. It returns how many of them and of all it has changed, and the code of one.
  private func statement(_ codes: [String], _ journal: EditJournal) -> SQL {
    let codes: SQL = "\(codes)::text[]"
    let chosen: SQL = """
      chosen as materialized (
        select q.code from quake.quake q
         where q.code = any (\(sql: codes)) and \(sql: EditConditions(edit, amongKnown: true).text)
         order by q.code collate "C" for update skip locked
      )
      """
    let change: SQL
    switch edit.action {
    case .validate: change = Self.update("validated = true")
    case .unvalidate: change = Self.update("validated = false")
    case .set(let assignments):
      change = Self.update(
        assignments.map { "\(identifier: $0.column.name) = \(sql: $0.sql)" as SQL }
          .joined(separator: ", "))
    case .delete:
      change = DeleteStatement.text(reason: "deleted", olderThan: nil, edit: journal.id)
    case .expire(let age, let forever):
      change = DeleteStatement.text(
        reason: "expired", olderThan: forever ? nil : age, edit: journal.id)
    }
    return """
      with \(sql: chosen), \(sql: change)
      select count(*) filter (where g.code = any (\(sql: codes))), count(*), min(g.code) from gone g
      """
  }

  private static func update(_ assignments: SQL) -> SQL {
    """
    gone as (
      update quake.quake q set \(sql: assignments) from chosen c where q.code = c.code returning q.code
    )
    """
  }
}

/// How many events a transaction of an edit changes: as many as take a tenth of a second, so that a session
/// that waits for one of its row locks does not notice.
struct ChunkSize {
  private(set) var size = 2000
  private static let limits = 250...5000
  private static let target = Duration.milliseconds(100)

  /// Takes into account how long a transaction of `count` events took.
  mutating func took(_ duration: Duration, for count: Int) {
    guard count >= size / 2 else { return }
    let wanted = Double(size) * (Self.target / max(duration, .milliseconds(1)))
    // One slow commit says little.
    let next = min(max(wanted, Double(size) / 2), Double(size) * 2)
    size = min(max(Int(next), Self.limits.lowerBound), Self.limits.upperBound)
  }
}

/// The part of a statement that deletes the events of the list `chosen (code)` together with the rows that they
/// superseded, and leaves tombstones. Its last list, `gone (code)`, has the deleted codes.
enum DeleteStatement {
  /// Rows of the same earthquakes under earlier ids as the events of the list `chosen`. Without the others, they would
  /// lead nowhere.
  static let superseded: SQL = """
    select s.code from quake.quake s join chosen c on c.code = s.superseded_by
     where not exists (select from chosen o where o.code = s.code)
       -- The events of other sources are rows of their own: one of them is shown instead.
       and not exists (select from quake.association n where n.code = s.code and n.preferred = c.code)
    """

  /// - Parameters:
  ///   - reason: The reason of the tombstones.
  ///   - age: The age of events that expire; nil: none.
  ///   - edit: The number of the edit.
  static func text(reason: String, olderThan age: Duration?, edit: Int64) -> SQL {
    """
    superseded as materialized (
      \(sql: superseded) order by s.code collate "C" for update of s
    ), gone as (
      delete from quake.quake q
       using (select code from chosen union all select code from superseded) d
       where q.code = d.code
      returning q.code
    ), noted as (
      insert into quake.tombstone as t (code, reason, older_than, author, context, edit_id)
      select g.code, \(reason), make_interval(secs => \(age?.inSeconds)),
             left(current_setting('quake.author'), 200), left(current_setting('quake.context'), 2000),
             \(edit)::bigint
        from gone g
      on conflict (code) do update
         set reason = excluded.reason, older_than = excluded.older_than, deleted_at = excluded.deleted_at,
             author = excluded.author, context = excluded.context, edit_id = excluded.edit_id
    )
    """
  }
}

/// The events of an edit as conditions of a statement, alias `q`.
struct EditConditions {
  private(set) var conditions: [SQL]

  /// The conditions of a selection on events, under an alias.
  ///
  /// - Parameter isTable: Whether the alias is that of `quake.quake`.
  init(_ selection: EventSelection, alias: SQL = "q", isTable: Bool = true) {
    conditions = HistoryConditions(onEventsOf: selection.filter)
      .event(alias: alias, isTable: isTable)
  }

  /// The conditions of an edit.
  ///
  /// - Parameter amongKnown: Whether the statement has the codes already, so that those of the filter need
  ///   not be sent again.
  init(_ edit: EventEdit, amongKnown: Bool = false) {
    var selection = edit.selection
    let namesCodes = selection.filter.codes != nil
    if amongKnown { selection.filter.codes = nil }
    self.init(selection)
    var takesPast = namesCodes
    switch edit.action {
    case .validate: conditions.append("not q.validated")
    case .unvalidate: conditions.append("q.validated")
    case .set(let assignments):
      let names = assignments.map(\.column).list(of: "q")
      let values = assignments.map(\.sql).joined(separator: ", ")
      conditions.append("row(\(sql: names)) is distinct from row(\(sql: values))")
    case .delete: break
    case .expire(let age, _):
      takesPast = true
      conditions.append("q.time < now() - make_interval(secs => \(age.inSeconds))")
    }
    guard !takesPast else { return }
    if !edit.selection.includesSuperseded { conditions.append("q.superseded_by is null") }
    if !edit.selection.includesWithdrawn { conditions.append("q.withdrawn_at is null") }
  }

  var text: SQL { HistoryConditions.all(conditions) }
}
