import Postgres
import TestSupport

/// Compares the history with what the writers know.
enum HistoryCheck {
  static func run(over connection: Connection, log: WriterLog) throws -> Violations {
    var violations = Violations(feed: "history")
    let known = try connection.execute(
      """
      select t.context, t.inserted + t.updated + t.deleted + t.truncated,
             (select count(*) from quake.quake_version v where v.transaction_id = t.transaction_id)
        from quake.change_transaction t
      """)
    var sizes: [String: Int] = [:]
    for row in 0..<known.rowCount {
      let size = Int(known.integer(row, 1) ?? -1)
      if known.integer(row, 2) != Int64(size) {
        violations.add(.wrongHistory, "\(known.text(row, 0) ?? "?"): counts and versions differ")
      }
      // An import says the file's name here, the same each time.
      guard let name = known.text(row, 0), name.contains("/") else { continue }
      if sizes.updateValue(size, forKey: name) != nil {
        violations.add(.wrongHistory, "\(name) is there twice")
      }
    }
    let changes = log.changes
    for (name, ending) in log.endings where !name.hasPrefix("import/") {
      switch ending {
      case .committed:
        // Nothing that changes nothing is a transaction of the history.
        let expected = changes[name] ?? 0
        if sizes[name, default: 0] != expected {
          violations.add(
            .wrongHistory, "\(name) was committed with \(expected) changes: \(sizes[name] ?? 0)")
        }
      case .rolledBack, .commitFailed:
        if sizes[name] != nil { violations.add(.wrongHistory, "\(name) was rolled back") }
      case .unknown: break
      }
    }
    let gaps =
      Int(
        try connection.ask(
          "select coalesce(max(token), 0) - count(*) from quake.change_transaction") ?? "") ?? -1
    if gaps < 0 || gaps > log.explainedGaps {
      violations.add(
        .unexplainedGap, "\(gaps) numbers are missing, \(log.explainedGaps) are explained")
    }
    if let orphans = try connection.ask(
      """
      select count(*) from quake.quake_version v
       where not exists (select from quake.change_transaction t where t.transaction_id = v.transaction_id)
      """), orphans != "0"
    {
      violations.add(.wrongHistory, "\(orphans) versions belong to no transaction")
    }
    return violations
  }
}
