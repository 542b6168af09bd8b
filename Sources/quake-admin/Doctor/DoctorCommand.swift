import CommandLine
import EmbeddedPostgres
import Postgres
import QuakeModel
import QuakeSchema
import QuakeTool

/// `quake-admin doctor`: examines the server, the database and the roles, and says what to do.
enum DoctorCommand {
  static let table = Command(
    "doctor", purpose: "examine the server, the database and the roles, and say what to do",
    discussion: """
      Each line is ok, warning or problem, or "not seen" if this role, or a connection as such, does not show it; \
      below it is what to do. The first line counts them. The command only reads: it starts no server and changes \
      nothing. It needs no privilege but to connect; the role monitor sees the most, and on the server's machine \
      the command also sees its disk. --quiet leaves out what is ok.
      """,
    options: [
      .flag("json", help: "one JSON object a line: check, state, found, next"),
      RoleNames.option,
      .value(
        "max-transaction", "DURATION", default: "1h",
        help: "longest time that a transaction may be open"),
      .value(
        "max-standby-lag", "DURATION", default: "1m",
        help: "longest time that a standby may be behind"),
      .value(
        "max-retained-wal", "SIZE", default: "1GiB",
        help: "most WAL that a slot or a standby may hold back"),
    ],
    examples: [
      .init("quake-admin doctor", "examine the database"),
      .init("quake-admin doctor --quiet || alert", "for a daily check"),
    ],
    exitStatuses: [
      .init(.ok, "no warning and no problem"), .init(.failed, "there is a warning or a problem"),
      .init(.usage),
      .init(.unavailable, "the database cannot be reached, or the role may not connect"),
      .init(.internal),
      .init(
        .schema, "the schema is missing, older, newer or modified; the other checks are printed"),
    ])

  struct Line {
    let check: String
    let finding: DoctorCheck.Finding
  }

  static func run(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws -> ExitStatus {
    let roles = try RoleNames.read(arguments)
    var limits = DoctorCheck.Limits()
    limits.transaction =
      try arguments.duration("max-transaction", in: .zero...) ?? limits.transaction
    limits.standbyLag = try arguments.duration("max-standby-lag", in: .zero...) ?? limits.standbyLag
    limits.retainedWAL =
      try arguments.size("max-retained-wal").map(Int64.init) ?? limits.retainedWAL
    let access = try DatabaseAccess(arguments, diagnostics)
    let patient = try patient(access, roles, limits, diagnostics)
    let lines = try DoctorCheck.all.map {
      Line(check: $0.name, finding: try $0.finding(patient))
    }
    let status = try write(lines, isJSON: arguments.flag("json"), diagnostics)
    if case .success(let report) = patient.report,
      report.schemaFault != nil || !report.pending.isEmpty
    {
      return .schema
    }
    return status
  }

  /// Prints the lines, and returns the status: 1 if there is a warning or a problem.
  static func write(
    _ lines: [Line], isJSON: Bool, _ diagnostics: Diagnostics
  ) throws -> ExitStatus {
    let shown = lines.filter { diagnostics.verbosity > .quiet || $0.finding.state != .ok }
    try StandardOutput().write(
      shown, isJSON: isJSON, members: members(of:to:), text: { text(of: $0, among: lines) })
    return lines.contains { [.warning, .problem].contains($0.finding.state) } ? .failed : .ok
  }

  /// Connects, and reads what "quake-admin status" knows.
  private static func patient(
    _ access: DatabaseAccess, _ roles: RoleNames, _ limits: DoctorCheck.Limits,
    _ diagnostics: Diagnostics
  ) throws -> DoctorCheck.Patient {
    let connection = try access.connectAsItIs()
    connection.answerTimeout = .seconds(30)
    let isStandby = try connection.row("select pg_is_in_recovery()", as: Bool.self)
    let report: Result<StatusReport, PostgresError>
    do {
      report = .success(
        try StatusReport(
          connection, embedded: access.embedded?.options.home, feeds: [], limits: StatusLimits(),
          program: "\(diagnostics.tool) \(productVersion)"))
    } catch let error as PostgresError where error.kind == .server {
      report = .failure(error)
    }
    return DoctorCheck.Patient(
      connection: connection,
      another: { () throws(PostgresError) in try access.open() }, roles: roles, limits: limits,
      isEmbedded: access.embedded != nil, isStandby: isStandby, report: report)
  }

  private static func text(of shown: [Line], among lines: [Line]) -> String {
    let counts = DoctorCheck.State.allCases.compactMap { state -> String? in
      let count = lines.count { $0.finding.state == state }
      return count == 0 ? nil : "\(count) \(state.rawValue)"
    }
    var text = "\(Readable.count(lines.count, "check")): \(counts.joined(separator: ", "))\n"
    for line in shown {
      text +=
        "\(line.finding.state.rawValue): \(line.check): \(PrintableText.clean(line.finding.found))\n"
      if let next = line.finding.next { text += "  \(PrintableText.clean(next))\n" }
    }
    return text
  }

  private static func members(of line: Line, to json: inout JSONWriter) {
    json.member("check", line.check)
    json.member("state", line.finding.state.rawValue)
    json.member("found", line.finding.found)
    json.member("next", line.finding.next)
  }
}
