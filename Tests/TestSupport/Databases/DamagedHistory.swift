internal import Postgres

/// What happens to a history while a reader has a cursor in it.
package enum HistoryDamage: String, CaseIterable, Sendable, CustomStringConvertible {
  /// Some transactions are missing with their changes, as in a region that subscribed anew without a copy.
  case subscribedAnew
  /// A row of `change_transaction` is missing.
  case transactionDeleted
  /// A row of `quake_version` is missing.
  case changeDeleted
  /// Another history has taken the place of the one that the reader knows.
  case swapped
  /// It has gone back to an earlier time, and other transactions have got the numbers.
  case restored

  package var description: String { rawValue }

  /// Whether what is left is a whole history, so that only a cursor shows that it is another one.
  package var isWhole: Bool { self == .swapped || self == .restored }
}

/// A history that was damaged in one way, at a place that depends on the number of the round.
package final class DamagedHistory {
  /// Its database, a copy of its own.
  package let database: TestDatabase
  /// The token after which a reader goes on.
  package let cursor: String
  /// The token at which the history has diverged, as an error says. If all changes of a transaction are missing,
  /// some readers see it at the one before.
  package let places: Set<String>

  private static let main = Result { try write(on: .main) }
  private static let other = Result { try write(on: .other) }

  /// A large transaction and many small ones, with numbers that nobody uses in between.
  private static func write(on version: ServerVersion) throws -> TestDatabase {
    let database = try TestDatabase(on: version.server)
    let connection = try database.connect()
    try connection.execute(
      "insert into quake.quake (code, time) select 'l' || i, now() from generate_series(1, 260) i")
    for number in 0..<40 {
      if number % 7 == 0 { try connection.execute("select nextval('quake.token')") }
      try connection.execute(
        SQL(
          trusted: """
            insert into quake.quake (code, time)
            select 's\(number)x' || i, now() from generate_series(1, \(1 + number % 3)) i
            """))
    }
    return database
  }

  /// Writes a history and damages it.
  package init(
    _ damage: HistoryDamage, round: Int, on version: ServerVersion = .main
  ) throws {
    let original = try (version == .main ? Self.main : Self.other).get()
    database = try TestDatabase(copying: original)
    var generator = SeededGenerator(UInt64(round) &* 5 &+ UInt64(damage.rawValue.count))
    let tokens = try database.tokens()
    // One transaction is before the damage, and one after it.
    let first = Int.random(in: 1..<tokens.count - 1, using: &generator)
    let before = ["0"] + tokens[..<first]
    let connection = try database.connect()
    func run(_ statement: String) throws { try connection.execute(SQL(trusted: statement)) }
    switch damage {
    case .subscribedAnew:
      let last = min(first + Int.random(in: 0..<9, using: &generator), tokens.count - 2)
      try run(Self.deletion("t.token between \(number(tokens[first])) and \(number(tokens[last]))"))
      try run(
        """
        delete from quake.change_transaction
         where token between \(number(tokens[first])) and \(number(tokens[last]))
        """)
      (cursor, places) = (before[Int.random(in: 0...first, using: &generator)], [tokens[first - 1]])
    case .transactionDeleted:
      try run("delete from quake.change_transaction where token = \(number(tokens[first]))")
      (cursor, places) = (before[Int.random(in: 0...first, using: &generator)], [tokens[first - 1]])
    case .changeDeleted:
      // Also of the large transaction.
      let damaged = round % 3 == 0 ? 0 : first
      try run(
        Self.deletion("t.token = \(number(tokens[damaged]))", limit: "limit 1 offset \(round % 2)"))
      // A transaction of one change has none at the offset 1.
      try run(
        Self.deletion(
          """
          t.token = \(number(tokens[damaged])) and t.inserted = 1
          """))
      let known = Int.random(in: 0...damaged, using: &generator)
      (cursor, places) = (before[known], [tokens[damaged], before[damaged]])
    case .swapped:
      try run(
        """
        update quake.change_transaction
           set nonce = translate(nonce, '0123456789abcdef', '123456789abcdef0')
        """)
      try run(
        """
        update quake.change_transaction t
           set predecessor = coalesce((select p.token || '.' || p.nonce from quake.change_transaction p
                                        where p.token < t.token order by p.token desc limit 1), '0')
        """)
      (cursor, places) = (tokens[first], [tokens[first]])
    case .restored:
      try run(Self.deletion("t.token >= \(number(tokens[first]))"))
      try run("delete from quake.change_transaction where token >= \(number(tokens[first]))")
      try run("select setval('quake.token', \(number(tokens[first - 1])))")
      let known = tokens[Int.random(in: first..<tokens.count, using: &generator)]
      for _ in 0...number(known) - number(tokens[first - 1]) {
        try run("update quake.quake set felt = coalesce(felt, 0) + 1 where code = 'l1'")
      }
      (cursor, places) = (known, [known])
    }
  }

  /// The statement that deletes the changes of some transactions.
  private static func deletion(_ condition: String, limit: String = "") -> String {
    """
    delete from quake.quake_version
     where id in (select v.id from quake.quake_version v
                    join quake.change_transaction t on t.transaction_id = v.transaction_id
                   where \(condition) order by v.id \(limit))
    """
  }
}

extension DamagedHistory {
  /// Whether a text says where the history has diverged.
  package func isNamed(in text: String) -> Bool {
    places.contains { text.contains("istory diverged at token \($0)") }
  }
}

/// The number of a token.
private func number(_ token: String) -> Int { Int(token.prefix { $0 != "." }) ?? 0 }
