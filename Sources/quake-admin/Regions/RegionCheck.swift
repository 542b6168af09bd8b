import CommandLine
import Postgres
import QuakeHistory
import QuakeModel
import QuakeSchema
import QuakeTool

struct RegionCheck {
  private typealias Finding = DoctorCheck.Finding

  private let region: Region
  private let connection: Connection
  private let centre: Result<Connection, any Error>

  init(_ region: Region, over connection: Connection, centre: Result<Connection, any Error>) {
    self.region = region
    self.connection = connection
    self.centre = centre
  }

  private var again: String { "\"quake-admin region create \(region.name) --centre URL\"" }

  /// The findings, in the order in which they are printed.
  func lines() throws -> [DoctorCommand.Line] {
    var lines = [
      DoctorCommand.Line(check: "subscription", finding: try subscription()),
      DoctorCommand.Line(check: "triggers", finding: try triggers()),
      DoctorCommand.Line(check: "history", finding: try history(try? self.centre.get())),
    ]
    let centre: Connection
    switch self.centre {
    case .success(let connection): centre = connection
    case .failure(let error):
      guard let failure = Failure(error) else { throw error }
      lines.append(
        DoctorCommand.Line(
          check: "centre",
          finding: .problem(
            failure.message, failure.hint ?? "Name the centre's database in --centre.")))
      return lines
    }
    let checks: [(String, (Connection) throws -> Finding)] = [
      ("schema", schema), ("publications", publications), ("columns", columns), ("slot", slot),
      ("failover", failover),
    ]
    for (name, examine) in checks {
      lines.append(DoctorCommand.Line(check: name, finding: try examine(centre)))
    }
    return lines
  }

  // MARK: - The region

  private func subscription() throws -> Finding {
    guard try !connection.row("select pg_is_in_recovery()", as: Bool.self) else {
      return .unseen(
        "the state of the subscription, which the primary has", "Run this command on the primary.")
    }
    guard let figures = try ServerFigures.region(over: connection) else {
      return .unseen("the state of the subscription", "Connect as a role that may read it.")
    }
    let limit = try Region.transactionLimit(over: connection)
    if let problem = StatusLimits.problem(of: figures) {
      return .problem(
        problem.message,
        [problem.hint, limit.map(Region.advice(onLimit:))].compactMap(\.self).joined(separator: " ")
      )
    }
    if let limit {
      return .warning("transaction_timeout is \(limit)", Region.advice(onLimit: limit))
    }
    let lag = Readable.duration(Duration(lag: max(figures.lagSeconds ?? 0, 0)))
    let failures = Readable.count(Int(figures.errors), "failure")
    let since = figures.errors == 0 ? "" : ", after \(failures) of its workers"
    return .ok("region \(region.name) had all of its centre \(lag) ago\(since)")
  }

  private func triggers() throws -> Finding {
    let wrong = try connection.rows(
      """
      select format('%s on %s', t.tgname, t.tgrelid::regclass) from pg_trigger t join pg_class c on c.oid = t.tgrelid
       where c.relnamespace = to_regnamespace('quake') and t.tgname ~ '^region_[0-9]+_'
         and t.tgenabled <> case t.tgname when 'region_10_refuse_write' then 'O'::"char" else 'R' end
       order by 1
      """, as: String.self)
    guard !wrong.isEmpty else { return .ok("local writers are refused, readers are notified") }
    return .problem(
      "\(Readable.count(wrong.count, "trigger")) of the region not enabled as needed: \(DoctorCheck.Patient.list(wrong))",
      "Run \(again). What was written here meanwhile is not the centre's: add --anew if \"history\" is not ok."
    )
  }

  private func history(_ centre: Connection?) throws -> Finding {
    if let gap = try Region.gap(in: connection) {
      return .problem(
        gap.message + (gap.detail.map { ": \($0)" } ?? ""),
        "Transactions are missing here: copy the centre anew with \(again) --anew.")
    }
    if let contradiction = try centre.flatMap({ centre throws(PostgresError) in
      try region.contradiction(over: connection, at: centre)
    }) {
      return .problem(contradiction, "Copy the centre anew with \(again) --anew.")
    }
    let newest = try connection.firstRow(
      """
      select token || '.' || nonce, greatest(extract(epoch from clock_timestamp() - at), 0)::float8
        from quake.change_transaction order by token desc limit 1
      """, as: (String, Double).self)
    guard let newest else { return .ok("no transaction yet") }
    return .ok(
      "each transaction follows its predecessor; the newest is \(newest.0), \(Readable.duration(Duration(lag: newest.1))) old"
    )
  }

  // MARK: - The centre

  private func schema(_ centre: Connection) throws -> Finding {
    let here = try Migrator.version(of: connection) ?? 0
    let there = try Migrator.version(of: centre) ?? 0
    guard here >= there else {
      return .problem(
        "the region is at version \(here), its centre at \(there)",
        "Upgrade the region's programs, run \"quake-admin migrate\" there, and then \(again).")
    }
    let reported = try centre.firstRow(
      "select schema_version from quake.regional_database where name = \(region.name) and not is_here",
      as: Int.self)
    guard reported == here else {
      return .warning(
        reported.map { "the centre takes the region for one at version \($0); it is at \(here)" }
          ?? "the centre does not know region \(region.name), and would migrate before it",
        "Run \(again), which tells it.")
    }
    return .ok("version \(here) here, \(there) at the centre")
  }

  private func publications(_ centre: Connection) throws -> Finding {
    let faults = try region.faults(over: connection, at: centre)
    guard !faults.descriptions.isEmpty else {
      return .ok("\(Readable.count(RegionTables.replicated.count, "table")), as they should be")
    }
    return .problem(
      DoctorCheck.Patient.list(faults.descriptions),
      faults.losesChanges
        ? "Changes may be missing here: copy the centre anew with \(again) --anew."
        : "Run \(again), which corrects publications and subscription.")
  }

  /// A column that the owner of the centre has added stops the subscription at the next row.
  private func columns(_ centre: Connection) throws -> Finding {
    let query: SQL = """
      select format('%s of quake.%s', a.attname, c.relname) from pg_attribute a join pg_class c on c.oid = a.attrelid
       where format('quake.%s', c.relname) = any (\(RegionTables.replicated)::text[])
         and c.relnamespace = to_regnamespace('quake') and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
       order by 1
      """
    let missing = Set(try centre.rows(query, as: String.self)).subtracting(
      try connection.rows(query, as: String.self))
    guard !missing.isEmpty else { return .ok("the region has all of the centre's") }
    return .problem(
      "the region lacks \(DoctorCheck.Patient.list(missing.sorted())), which the centre has",
      "Add the same column here (\"alter table ... add column\"): the subscription then goes on by itself."
    )
  }

  private func slot(_ centre: Connection) throws -> Finding {
    let isHere = try centre.firstRow(
      "select database = current_database() from pg_replication_slots where slot_name = \(region.slot)",
      as: Bool.self)
    guard isHere != false else {
      return .problem(
        "slot \(region.slot) belongs to another database than \(centre.label)",
        "Name the region's centre: \(again).")
    }
    guard
      let slot = try ServerFigures.slots(over: centre).first(where: { $0.name == region.slot })
    else {
      return .problem(
        "the centre has no slot \(region.slot): it was dropped, or lost in a failover",
        "What was committed since is missing here: copy the centre anew with \(again) --anew.")
    }
    let kept = "keeps \(Readable.bytes(Int(slot.retainedBytes))) of WAL at the centre"
    guard !slot.isLost else {
      let reason = Region.reason(of: slot.invalidation)
      return .problem(
        "\(region.slot) has lost WAL that the region needs, or is about to",
        "If the region cannot go on, copy the centre anew with \(again) --anew; \(reason).")
    }
    guard slot.behindBytes ?? 0 >= 0 else {
      return .problem(
        "the region has read more of \(region.slot) than the centre has, and skips what is committed now",
        "The centre was restored, or has lost transactions in a failover: copy it anew with \(again) --anew."
      )
    }
    let limit = DoctorCheck.Limits().retainedWAL
    guard slot.isActive, slot.retainedBytes <= limit else {
      return .problem(
        slot.isActive ? "\(region.slot) \(kept)" : "nobody reads \(region.slot), which \(kept)",
        "The region must go on before the centre's disk is full: see \"subscription\".")
    }
    let behind = slot.behindBytes.map { "\(Readable.bytes(Int($0))) behind; " } ?? ""
    return .ok("\(behind)\(region.slot) \(kept)")
  }

  private func failover(_ centre: Connection) throws -> Finding {
    let standbys = try ServerFigures.standbys(over: centre)
    guard centre.serverVersion >= 170_000 else {
      let found =
        "PostgreSQL before 17 has no failover slots: a failover of the centre loses this one"
      let next = "After a failover run \(again) --anew on every region."
      return standbys.isEmpty ? .ok("\(found). \(next)") : .warning(found, next)
    }
    let isSynced = try centre.firstRow(
      "select (to_jsonb(s) ->> 'failover')::boolean from pg_replication_slots s where slot_name = \(region.slot)",
      as: Bool?.self)
    guard isSynced == true else {
      return .problem(
        "\(region.slot) is not kept in a failover of the centre",
        "Run \"alter subscription \(region.slot) disable\", \"... set (failover = true)\", \"... enable\" here."
      )
    }
    let waits = try centre.row(
      "select current_setting('synchronized_standby_slots') <> ''", as: Bool.self)
    guard waits || standbys.isEmpty else {
      return .warning(
        "the region may have what a standby of the centre lacks after a failover",
        "Name the slots of the standbys in synchronized_standby_slots at the centre, and set sync_replication_slots = on at each standby."
      )
    }
    return .ok("\(region.slot) is kept in a failover to a standby with sync_replication_slots = on")
  }
}
