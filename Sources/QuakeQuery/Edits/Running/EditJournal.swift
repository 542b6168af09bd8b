internal import Basics
internal import Postgres
internal import QuakeModel

/// The row of an edit in `quake.edit`, and its transactions.
struct EditJournal {
  let connection: Connection
  let id: Int64
  /// The events that an earlier run of the edit has changed.
  let before: Int64
  private let author: EditAuthor
  private let context: String

  private init(
    _ action: String, _ id: Int64, before: Int64, _ author: EditAuthor, _ connection: Connection
  ) {
    self.connection = connection
    self.id = id
    self.before = before
    self.author = author
    context = author.context ?? "\(action) (edit \(id))"
  }

  /// The edit of that action, title and author that was interrupted; nil: there is none.
  static func interrupted(
    _ action: String, title: String?, by author: EditAuthor, over connection: Connection
  ) throws(PostgresError) -> EditJournal? {
    guard let title else { return nil }
    let found = try connection.firstRow(
      """
      select e.id, coalesce((select sum(t.events) from quake.edit_transaction t where t.edit_id = e.id), 0)
        from quake.edit e
       where e.finished_at is null and e.action = \(action) and e.selection = \(title)
         and e.author = \(author.author)
       order by e.id desc limit 1
      """, as: (Int64, Int64).self)
    return found.map { EditJournal(action, $0, before: $1, author, connection) }
  }

  static func begin(
    _ action: String, title: String?, by author: EditAuthor, over connection: Connection
  ) throws(PostgresError) -> EditJournal {
    let id = try connection.row(
      """
      insert into quake.edit (action, selection, author, context, program)
      values (\(action), \(title ?? ""), \(author.author), \(author.context), \(author.program))
      returning id
      """, as: Int64.self)
    return EditJournal(action, id, before: 0, author, connection)
  }

  /// Makes the edit, in many transactions.
  ///
  /// - Parameters:
  ///   - codes: The events.
  ///   - done: What is done with them, in a word, for an error.
  ///   - shouldStop: Is asked after each transaction.
  ///   - progress: Is called after each transaction with the number of events done, and of all.
  ///   - change: Changes events in one transaction, adds to the outcome, and to a list those that other sessions have
  ///     locked. Returns whether it could do anything.
  func run(
    _ codes: CodeList, _ outcome: inout EditOutcome, done: String, _ shouldStop: () -> Bool,
    _ progress: (_ done: Int64, _ all: Int64) -> Void,
    _ change: ([String], inout EditOutcome, inout CodeList) throws -> Bool
  ) throws {
    var queue = EditQueue(codes)
    while !shouldStop() {
      guard
        let chunk = try queue.next(
          over: connection, done: "Events that are \(done): \(outcome.changed).")
      else {
        outcome.isFinished = true
        break
      }
      guard !chunk.isEmpty else { continue }
      let begun = MonotonicClock.now()
      let hasChanged = try change(chunk, &outcome, &queue.locked)
      queue.took(MonotonicClock.now() - begun, for: chunk.count, hasChanged: hasChanged)
      progress(outcome.selected - queue.left, outcome.selected)
    }
    if outcome.isFinished { try finish() }
    try complete(&outcome)
    if outcome.changed > 0 {
      try Associations(connection: connection, author: author.author).updateAfterChange()
    }
  }

  /// Runs one transaction of the edit.
  ///
  /// - Parameter body: Changes events; returns how many, and the code of one of them.
  func transaction(
    _ body: () throws -> (events: Int64, code: String?)
  ) throws -> Int64 {
    try connection.transaction {
      let lockTimeout: String = try connection.row(
        """
        select current_setting('lock_timeout') as before, set_config('lock_timeout', '500ms', true),
               set_config('quake.author', \(author.author), true),
               set_config('quake.context', \(context), true)
        """
      ) { row throws(PostgresError) in try row["before"] }
      let (events, code) = try body()
      guard events > 0, let code else { return 0 }
      // The commit may wait for the lock of the commit order for as long as any other.
      try connection.execute(
        """
        with noted as (
          insert into quake.edit_transaction (edit_id, transaction_id, events)
          select \(id)::bigint, v.transaction_id, \(events)::bigint from quake.quake_version v
           where v.code = \(code) order by v.id desc limit 1
        )
        select set_config('lock_timeout', \(lockTimeout), true)
        """)
      return events
    }
  }

  /// Whether a transaction that failed so may be repeated: another session held a lock.
  static func mayRepeat(_ error: PostgresError) -> Bool {
    [
      SQLState.lockNotAvailable, SQLState.deadlockDetected, SQLState.serializationFailure,
      SQLState.uniqueViolation,
    ].contains(error.sqlState)
  }

  private func finish() throws(PostgresError) {
    try connection.execute(
      "update quake.edit set finished_at = clock_timestamp() where id = \(id)")
  }

  /// Adds the edit's number and transactions to an outcome.
  private func complete(_ outcome: inout EditOutcome) throws(PostgresError) {
    outcome.edit = id
    outcome.changedBefore = before
    let ends = try connection.firstRow(
      """
      select count(*) over (), t.token || '.' || t.nonce,
             first_value(t.token || '.' || t.nonce) over (order by t.token)
        from quake.edit_transaction e
        join quake.change_transaction t on t.transaction_id = e.transaction_id
       where e.edit_id = \(id)
       order by t.token desc limit 1
      """, as: (Int64, ChangeToken, ChangeToken).self)
    guard let (count, last, first) = ends else { return }
    outcome.transactions = count
    outcome.last = last
    outcome.first = first
  }
}

/// The events that an edit or a restore has still to do, in chunks. Those that other sessions have locked come
/// again after the others.
struct EditQueue {
  private var codes: CodeList
  /// The events that were passed over because other sessions have locked them.
  var locked = CodeList()
  private var size = ChunkSize()
  private var lastChange = MonotonicClock.now()

  /// How long to try while every event that is left is locked.
  private static let patience = Duration.seconds(60)

  init(_ codes: CodeList) {
    self.codes = codes
  }

  var left: Int64 { locked.count + codes.left }

  /// The next chunk; nil if nothing is left. Waits a moment before it begins with the locked events.
  ///
  /// - Parameter done: How many events are done, in words, for the error.
  /// - Throws: `StoreError` of kind `locked` if other sessions keep all that are left locked.
  mutating func next(over connection: Connection, done: String) throws -> [String]? {
    let chunk = codes.next(size.size)
    guard chunk.isEmpty else { return chunk }
    guard locked.count > 0 else { return nil }
    guard MonotonicClock.now() - lastChange < Self.patience else {
      throw StoreError(
        .locked, "other sessions keep \(locked.count) of the events locked", detail: done,
        hint: "End these sessions, or wait; then repeat the command, which continues.")
    }
    codes = locked
    locked = CodeList()
    _ = Connection.pause(for: .milliseconds(100), wake: connection.interrupt)
    return []
  }

  /// Notes the time that a chunk took, and whether it changed anything.
  mutating func took(_ duration: Duration, for count: Int, hasChanged: Bool) {
    size.took(duration, for: count)
    if hasChanged { lastChange = MonotonicClock.now() }
  }
}
