import Basics
import Glibc
import Postgres
import QuakeHistory
import QuakeModel
import QuakeSchema
import QuakeTool
import Synchronization

/// Finds out whether the database would answer a document now.
///
/// One thread holds a connection and asks. Another one takes the questions, and answers them after at most `limit`:
/// also while the first one waits for a server that is silent.
final class ReadinessProbe: Sendable {
  typealias Answer = @Sendable (Result<DatabaseState, any Error>) -> Void

  private struct State {
    var waiting: [Answer] = []
    /// Whether the database is being asked.
    var isAsking = false
    var result: Result<DatabaseState, any Error> = .failure(ReadinessProbe.silence)
  }

  /// How long a question waits for the database.
  private static let limit = Duration.milliseconds(1500)
  private static let silence = PostgresError(
    kind: .timeout, message: "the database has not answered in time")

  private let settings: ConnectionSettings
  private let state = Mutex(State())
  /// Raised for the thread that answers when there is a question, and when the database has answered.
  private let asked, answered: WakeEvent
  /// Raised for the thread that asks the database.
  private let begun: WakeEvent
  /// Raised for ever when the server ends.
  private let ended: WakeEvent
  private let isStopped = Flag()

  init(_ settings: ConnectionSettings) throws(DescriptorFailure) {
    self.settings = settings
    (asked, answered) = (try WakeEvent(), try WakeEvent())
    (begun, ended) = (try WakeEvent(), try WakeEvent())
  }

  func start() throws(ThreadError) {
    try DetachedThread.start { self.askDatabase() }
    try DetachedThread.start { self.answer() }
  }

  /// Ends the threads. Those who wait get an error.
  func stop() {
    isStopped.set()
    for event in [ended, asked, answered, begun] { event.raise() }
  }

  /// Gives the state of the database to `answer`, on another thread, or the reason why it is not known.
  func ask(_ answer: @escaping Answer) {
    state.withLock { $0.waiting.append(answer) }
    asked.raise()
  }

  // MARK: - The thread that answers

  private func answer() {
    while !isStopped.isSet {
      Self.wait(for: asked, at: -1)
      let isNeeded = state.withLock { state in
        guard !state.waiting.isEmpty else { return false }
        if !state.isAsking {
          state.isAsking = true
          answered.lower()
          begun.raise()
        }
        return true
      }
      guard isNeeded else { continue }
      Self.wait(for: answered, at: Deadline(after: Self.limit).pollTimeout)
      let (waiting, result) = state.withLock { state in
        defer { state.waiting = [] }
        return (state.waiting, state.isAsking ? .failure(Self.silence) : state.result)
      }
      for answer in waiting { answer(result) }
    }
  }

  private static func wait(for event: WakeEvent, at timeout: Int32) {
    var wanted = pollfd(fd: event.descriptor, events: Int16(POLLIN), revents: 0)
    if poll(&wanted, 1, timeout) > 0 { event.lower() }
  }

  // MARK: - The thread that asks

  private func askDatabase() {
    var connection: Connection?
    while !isStopped.isSet {
      Self.wait(for: begun, at: -1)
      guard !isStopped.isSet else { return }
      let result = Result { try read(over: &connection) }
      if case .failure = result { connection = nil }
      state.withLock { state in
        state.result = result
        state.isAsking = false
        answered.raise()
      }
    }
  }

  private func read(over connection: inout Connection?) throws -> DatabaseState {
    if let old = connection {
      do {
        try Migrator.checkSchema(of: old)
        return try DatabaseState(over: old)
      } catch let error as PostgresError where error.isConnectionLoss && error.kind != .timeout {
        // It may be gone since the last question, as the connections for queries may.
        connection = nil
      }
    }
    let new = try Connection(settings, wake: ended.descriptor)
    new.interrupt = ended.descriptor
    new.answerTimeout = Self.limit
    try Migrator.checkSchema(of: new)
    connection = new
    return try DatabaseState(over: new)
  }
}

/// What `/readyz` needs to know about the database.
struct DatabaseState: Sendable {
  /// How far it is behind the server whose changes it gets; zero for one that gets none, nil if that is not known.
  let lag: Duration?
  /// The database as a region; nil if it is none.
  let region: ServerFigures.Region?

  /// Asks for what every document needs: the newest token, and room in the table of locks.
  init(over connection: Connection) throws {
    _ = try HistoryReader.latestToken(over: connection)
    let (isStandby, seconds) = try connection.row(
      """
      select pg_is_in_recovery(), case
        when not pg_is_in_recovery() then
          -- A subscription has a worker; from version 16 on it may have several. A worker that fails again and again
          -- gets messages, too, but has caught up with none of the publisher's positions. A region that is disabled,
          -- lacks the tables of its subscription, or is not copied yet, is not ready.
          coalesce((select max(s.lag)
                      from (select min(case when p.subenabled and w.latest_end_lsn is not null
                                             and not exists (select from pg_subscription_rel r
                                                              where r.srsubid = p.oid and r.srsubstate <> 'r')
                                             and (p.subname !~ '^quake_region_'
                                                  or exists (select from pg_subscription_rel r
                                                              where r.srsubid = p.oid
                                                                and r.srrelid = 'quake.change_transaction'::regclass))
                                            then extract(epoch from clock_timestamp() - w.latest_end_time)
                                            else 'infinity' end::float8) as lag
                              from pg_subscription p
                              join pg_database d on d.oid = p.subdbid and d.datname = current_database()
                              left join pg_stat_subscription w on w.subid = p.oid and w.relid is null
                             where p.subenabled or p.subname ~ '^quake_region_'
                             group by p.oid) s), 0)
        -- While the primary sends nothing, the last transaction gets older without being late.
        when exists (select from pg_stat_wal_receiver)
             and pg_last_wal_receive_lsn() <= pg_last_wal_replay_lsn() then 0
        else extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())::float8 end
      """, as: (Bool, Double?).self)
    region = try ServerFigures.region(over: connection)
    lag = seconds.flatMap { $0.isFinite ? Duration(lag: $0) : nil }
    // Most statements need few locks, for which each session has room of its own. A transaction's number is
    // locked in the table that all share, where a standby locks nothing.
    if !isStandby {
      try connection.transaction { try connection.execute("select pg_current_xact_id()") }
    }
  }
}
