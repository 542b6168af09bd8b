import CommandLine
import Postgres
import QuakeConsumers
import QuakeHistory
import QuakeModel
import QuakeSchema
import QuakeTool
import QuakeWorker

/// The database itself: its schema, roles and tables.
extension DoctorCheck {
  static let contents = [
    schema, privileges, constraints, indexes, encoding, collations, bloat, transactionIDs, health,
    consumers,
  ]

  private static let schema = DoctorCheck("schema") { patient in
    let report = try patient.report.get()
    if let fault = report.schemaFault {
      return .problem(fault.message, fault.hint ?? "Use the tools of the schema's version.")
    }
    guard report.pending.isEmpty else {
      return .problem(
        report.schemaVersion == 0
          ? "there is none" : "lacks migrations: \(Patient.list(report.pending))",
        "Run \"quake-admin migrate\" and then \"quake-admin roles create\"\(patient.there).")
    }
    let (version, known) = (report.schemaVersion ?? 0, Migrator.knownVersion)
    guard version <= known else {
      return .warning(
        "version \(version) is newer than that of this program, \(known), and was not compared",
        NewerSchema.hint)
    }
    if let changes = report.changes {
      return .problem(
        "changed in \(Readable.count(changes.count, "place")), such as: "
          + changes.named.joined(separator: "; "),
        """
        "quake-admin roles check --json" prints the statements that undo this\(patient.there); then "quake-query verify".
        """
      )
    }
    return .ok("version \(version), that of this program (\(productVersion))")
  }

  private static let privileges = DoctorCheck("privileges") { patient in
    if let report = try? patient.report.get(), report.store == nil {
      return .unseen(
        "the privileges on a schema that this program does not know", "Correct the schema first.")
    }
    let findings = try RoleCheck.run(patient.roles, over: patient.connection)
    guard !findings.isEmpty else { return .ok("the roles are as they should be") }
    let areMissing = findings.count { $0.kind == .missingRole } == Role.allCases.count
    if areMissing, patient.isEmbedded {
      return .ok("no roles: access to the embedded server's folder is access to the database")
    }
    guard !areMissing else {
      return .warning(
        "the database has none of Quake's roles",
        """
        Run "quake-admin roles create\(patient.prefixOption)"\(patient.there), and connect each program as its own role.
        """)
    }
    let isSerious = findings.contains { [.changed, .wrongOwner, .tooMany].contains($0.kind) }
    return (isSerious ? Finding.problem : Finding.warning)(
      "\(Readable.count(findings.count, "difference")): \(RoleFinding.summary(of: findings))",
      "Run \"quake-admin roles check\(patient.prefixOption)\", which lists them and says what to do."
    )
  }

  private static let constraints = DoctorCheck("constraints") { patient in
    let found = try patient.connection.rows(
      """
      select format('%s on %s', conname, conrelid::regclass),
             format('alter table %s validate constraint %I', conrelid::regclass, conname)
        from pg_constraint c
       where connamespace = to_regnamespace('quake') and not convalidated
         -- Since version 18 a constraint may be there for people only, and then it cannot be validated.
         and (to_jsonb(c) ->> 'conenforced')::boolean is not false
       order by 1
      """, as: (String, String).self)
    guard let first = found.first else { return .ok("all are validated") }
    return .warning(
      "not validated: \(Patient.list(found.map(\.0)))",
      """
      Run "\(first.1)"\(patient.there)\(found.count > 1 ? ", and the same for the others" : ""); rows that violate it \
      are an error there.
      """)
  }

  private static let indexes = DoctorCheck("indexes") { patient in
    let names = try patient.connection.rows(
      """
      select indexrelid::regclass::text from pg_index i join pg_class c on c.oid = i.indexrelid
       where c.relnamespace = to_regnamespace('quake') and not (i.indisvalid and i.indisready) order by 1
      """, as: String.self)
    guard !names.isEmpty else { return .ok("all are valid") }
    return .problem(
      "not valid: \(Patient.list(names))",
      """
      Run "reindex index \(names[0])"\(patient.there)\(names.count > 1 ? ", and the same for the others" : "").
      """)
  }

  /// In SQL_ASCII the server takes each byte as it comes; the others lack characters of feeds.
  private static let encoding = DoctorCheck("encoding") { patient in
    let encoding = try patient.connection.row(
      "select current_setting('server_encoding')", as: String.self)
    guard encoding != "UTF8" else { return .ok(encoding) }
    let next = """
      Make another database with "createdb --encoding UTF8 --template template0 NAME", and load a dump of this one \
      into it: "pg_dump --encoding UTF8".
      """
    return encoding == "SQL_ASCII"
      ? .warning(
        "the database is in SQL_ASCII, in which the server checks no text, and counts bytes as characters",
        next)
      : .problem("the database is in \(encoding), which lacks characters of texts in feeds", next)
  }

  /// A new version of the C library or of ICU sorts some texts otherwise than the indexes do.
  private static let collations = DoctorCheck("collations") { patient in
    // From version 15 on, the database's own collation has a version.
    let ofDatabase: SQL =
      patient.connection.serverVersion >= 150_000
      ? """
      select format('database %I', datname), format('alter database %I refresh collation version', datname)
        from pg_database
       where datname = current_database() and datcollversion <> pg_database_collation_actual_version(oid)
      """ : "select '', '' where false"
    let ofColumns: SQL = """
      select format('collation %s', c.oid::regcollation),
             format('alter collation %s refresh version', c.oid::regcollation)
        from pg_collation c
       where c.collversion <> pg_collation_actual_version(c.oid)
         and exists (select from pg_attribute where attcollation = c.oid)
       order by 1
      """
    let changed = try [ofDatabase, ofColumns].flatMap {
      try patient.connection.rows($0, as: (String, String).self)
    }
    guard let first = changed.first else { return .ok("as when the indexes were made") }
    let found = Patient.list(changed.map(\.0))
    guard !patient.isStandby else {
      return .problem(
        "this standby sorts otherwise than its primary: \(found)",
        "Give it the operating system of the primary, in the same version.")
    }
    // Before version 16, the statement needs the name.
    let database = try patient.connection.row(
      "select quote_ident(current_database())", as: String.self)
    return .problem(
      "a new version of the operating system sorts otherwise: \(found)",
      """
      Run "reindex database \(database)", and then "\(first.1)"\
      \(changed.count > 1 ? ", and the same for the others" : "").
      """)
  }

  private static let bloat = DoctorCheck("bloat") { patient in
    guard !patient.isStandby else {
      return .unseen("dead rows, which the primary counts", "Run this command on the primary.")
    }
    let tables = try patient.connection.rows(
      """
      select relid::regclass::text, n_dead_tup::int8, n_live_tup::int8
        from pg_stat_user_tables
       where schemaname = 'quake' and n_dead_tup > 10000 and n_dead_tup > n_live_tup * 0.5
       order by n_dead_tup desc
      """, as: (String, Int64, Int64).self)
    guard let worst = tables.first else { return .ok("no table has many dead rows") }
    return .warning(
      "\(worst.0) has \(Readable.count(Int(worst.1))) dead rows, \(Readable.count(Int(worst.2))) live ones"
        + (tables.count > 1 ? "; \(tables.count - 1) more tables" : ""),
      "A long transaction or an unused slot keeps them, see above; else run \"vacuum (analyze) \(worst.0)\"."
    )
  }

  private static let transactionIDs = DoctorCheck("transaction ids") { patient in
    let age = try patient.connection.row(
      """
      select greatest(age(datfrozenxid), mxid_age(datminmxid))::int8 from pg_database where datname = current_database()
      """, as: Int64.self)
    let found = "the oldest is \(Readable.count(Int(age))) transactions old, of 2,100,000,000"
    let next = """
      Autovacuum does not keep up, or something keeps old rows: see long transactions, prepared transactions and \
      slots. Then run "vacuum" in this database\(patient.there).
      """
    return age > 1_000_000_000
      ? .problem(found, next) : age > 500_000_000 ? .warning(found, next) : .ok(found)
  }

  private static let health = DoctorCheck("feeds and watchers") { patient in
    let report = try patient.report.get()
    guard let store = report.store else {
      return .unseen(
        "feeds and watchers of a schema that this program does not know",
        "Correct the schema first.")
    }
    let problems = StatusLimits().problemsOfStore(in: report)
    guard let first = problems.first else {
      return .ok(
        "\(Readable.count(store.feeds.count, "feed")) and \(Readable.count(store.watchers.count, "watcher")), no problem"
      )
    }
    return .problem(
      first.message + (problems.count > 1 ? "; and \(problems.count - 1) more" : ""),
      "Run \"quake-admin status\", which lists them and says what to do.")
  }

  private static let consumers = DoctorCheck("consumers") { patient in
    let report = try patient.report.get()
    guard let consumers = report.consumers else {
      return .unseen(
        "consumers of a schema that this program does not know", "Correct the schema first.")
    }
    let problems = StatusLimits().problemsOfConsumers(in: report)
    if let first = problems.first {
      return .problem(
        first.message + (problems.count > 1 ? "; and \(problems.count - 1) more" : ""),
        "Run \"quake-admin consumers\", which lists them, and \"quake-admin status\", which says what to do."
      )
    }
    let paused = consumers.filter { $0.pausedAt != nil }.map(\.name)
    guard paused.isEmpty else {
      return .warning(
        "paused: \(Patient.list(paused))", "\"quake-admin consumers resume\" resumes them.")
    }
    return .ok(
      consumers.isEmpty
        ? "there is none" : "\(Readable.count(consumers.count, "consumer")), no problem")
  }
}
