import CommandLine
import Postgres
import QuakeModel
import QuakeRoles
import QuakeSchema
import QuakeTool

/// `quake-admin roles`: the roles of the database, and what each may do.
enum RolesCommand {
  static let table = Command(
    "roles", purpose: "create, check or drop the roles of the database",
    discussion: """
      The roles are owner, writer, editor, reader, watcher, purger and monitor; each name on the server \
      begins with --prefix. docs/security.md lists what each may do. A superuser runs this, or a role \
      with CREATEROLE that owns the database.
      """,
    options: [
      .value(
        "prefix", "TEXT", default: RoleNames.standardPrefix,
        help: "what each role's name begins with")
    ],
    subcommands: [
      Command(
        "create", purpose: "create what is missing, grant and revoke what differs",
        discussion: """
          Runs in one transaction, and may be repeated at any time: after a migration it grants what \
          is needed on new tables. The schema and all in it become the owner's. PUBLIC loses its \
          privileges on the database. Settings that a role has already stay as they are. A password \
          is hashed here (SCRAM-SHA-256), so that the server and its log do not see it.
          """,
        options: [
          .value(
            "password-file", "ROLE=FILE", repeatable: true, completion: .files,
            help: "set this role's password to the first line of FILE: writer=/etc/quake/writer"),
          .value(
            "passwords", "DIR", completion: .folders,
            help: "set the password of each role that DIR holds a file for: DIR/writer, ..."),
          .flag("writer-purges", help: "let the writer purge, for quake-ingest run --keep-history"),
          .flag("dry-run", help: "print the statements without passwords, change nothing"),
        ],
        examples: [
          .init("quake-admin roles create --dry-run", "what would be done"),
          .init("quake-admin roles create --passwords /etc/quake/passwords", "do it"),
        ]),
      Command(
        "check", purpose: "name each privilege that is too many or too few",
        discussion: """
          Also what PUBLIC may do, which other roles may write the history, who owns the schema, and \
          each recommended setting that is missing. Changes nothing. The exit status is 1 when \
          anything differs.
          """,
        options: [.flag("json", help: "one JSON object a line")],
        examples: [
          .init("quake-admin roles check", "what differs"),
          .init("quake-admin roles check --json", "for a program"),
        ]),
      Command(
        "drop", purpose: "drop the roles that create made, and all that they were granted here",
        discussion: """
          What the roles own in this database becomes the caller's; no event is lost. Roles that \
          somebody else had made stay, without what they were granted on the schema. PUBLIC gets \
          nothing back.
          """,
        options: [
          .flag("yes", help: "do not ask"),
          .flag("dry-run", help: "print the statements, change nothing"),
        ],
        examples: [
          .init("quake-admin roles drop --dry-run", "what would be done"),
          .init("quake-admin roles drop --yes", "do it"),
        ]),
    ],
    environment: DatabaseAccess.environment, exitStatuses: Tool.exitStatuses)

  static func run(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws -> ExitStatus {
    let prefix = arguments.string("prefix") ?? RoleNames.standardPrefix
    guard let names = RoleNames(prefix: prefix) else {
      throw arguments.invalidValue(
        prefix, for: "prefix",
        expected: "at most 40 lower-case letters, digits and underscores, not beginning with pg_")
    }
    return switch arguments.subcommand.last {
    case "create": try create(names, arguments, diagnostics)
    case "check": try check(names, arguments, diagnostics)
    default: try drop(names, arguments, diagnostics)
    }
  }

  private static func connect(
    _ arguments: ParsedArguments, _ diagnostics: Diagnostics
  ) throws -> Connection {
    let connection = try DatabaseAccess(arguments, diagnostics).connect()
    try Migrator.checkSchema(of: connection)
    return connection
  }

  // MARK: - create

  private static func create(
    _ names: RoleNames, _ arguments: ParsedArguments, _ diagnostics: Diagnostics
  ) throws -> ExitStatus {
    var options = RoleMaker.Options()
    // Before anything is asked of the server.
    do throws(PasswordFile.Failure) {
      options.passwords = try PasswordFile.read(arguments)
    } catch {
      throw arguments.usageError(error.message)
    }
    options.writerPurges = arguments.flag("writer-purges")
    let maker = RoleMaker(names, options, over: try connect(arguments, diagnostics))
    let output = StandardOutput()
    if arguments.flag("dry-run") {
      let outcome = try maker.plan()
      try script(outcome.steps.map(\.shown), to: output)
      tellWhatIsLeft(outcome.left, diagnostics)
      return .ok
    }
    let outcome = try maker.make()
    for step in outcome.steps {
      diagnostics.verbose(step.shown)
      if let summary = step.summary { try output.writeLine(summary) }
    }
    let others = outcome.steps.count { $0.summary == nil }
    if outcome.steps.isEmpty {
      try output.writeLine("the roles are as they should be")
    } else if others > 0 {
      try output.writeLine("ran \(others) statements for privileges and settings")
    }
    try output.flush()
    tellWhatIsLeft(outcome.left, diagnostics)
    return .ok
  }

  /// What only others can do is no failure of what was asked for.
  private static func tellWhatIsLeft(_ findings: [RoleFinding], _ diagnostics: Diagnostics) {
    for finding in findings {
      diagnostics.warning(
        "left as it is: \(finding.text)",
        hint: finding.needsSuperuser
          ? "Only a superuser can change it: \(finding.statement);"
          : "If that is not meant to be: \(finding.statement);")
    }
  }

  /// A script that psql runs as a whole or not at all.
  private static func script(_ statements: [String], to output: StandardOutput) throws {
    if statements.isEmpty {
      try output.writeLine("-- nothing to do")
    } else {
      for line in ["begin"] + statements + ["commit"] { try output.writeLine(line + ";") }
    }
    try output.flush()
  }

  // MARK: - check

  private static func check(
    _ names: RoleNames, _ arguments: ParsedArguments, _ diagnostics: Diagnostics
  ) throws -> ExitStatus {
    let findings = try RoleCheck.run(names, over: try connect(arguments, diagnostics))
    let output = StandardOutput()
    if arguments.flag("json") {
      var json = JSONWriter()
      for finding in findings { write(finding, to: &json) }
      try output.write(json.bytes)
    } else if findings.isEmpty {
      try output.writeLine("the roles are as they should be")
    } else {
      for finding in findings {
        try output.writeLine("\(finding.kind.rawValue): \(PrintableText.clean(finding.text))")
      }
    }
    try output.flush()
    guard !findings.isEmpty else { return .ok }
    diagnostics.warning(
      "the roles differ from what is recommended in \(Readable.count(findings.count)) places",
      hint: "\"quake-admin roles create --dry-run\" prints what would put them right.")
    return .failed
  }

  private static func write(_ finding: RoleFinding, to json: inout JSONWriter) {
    json.object { json in
      json.key("kind")
      json.string(finding.kind.rawValue)
      json.key("role")
      json.string(finding.role)
      json.key("object")
      if let object = finding.object { json.string(object) } else { json.null() }
      json.key("item")
      if let item = finding.item { json.string(item) } else { json.null() }
      json.key("text")
      json.string(finding.text)
      json.key("statement")
      json.string(finding.statement)
    }
    json.newline()
  }

  // MARK: - drop

  private static func drop(
    _ names: RoleNames, _ arguments: ParsedArguments, _ diagnostics: Diagnostics
  ) throws -> ExitStatus {
    try arguments.requireAtMostOne(of: "yes", "dry-run")
    let asks = !arguments.flag("yes") && !arguments.flag("dry-run")
    guard !asks || Confirmation.isPossible else {
      throw arguments.usageError("--yes is needed where there is no terminal to ask on")
    }
    let connection = try DatabaseAccess(arguments, diagnostics).connect()
    let removal = RoleRemoval(names, over: connection)
    let output = StandardOutput()
    do {
      let plan = try removal.plan()
      if arguments.flag("dry-run") {
        try script(plan.statements, to: output)
        return .ok
      }
      guard !plan.statements.isEmpty else {
        try output.writeLine("there are no such roles")
        try output.flush()
        return .ok
      }
      let list = (plan.removed + plan.kept).joined(separator: ", ")
      if asks, !Confirmation.ask("Drop what \(connection.label) has of \(list)?") {
        diagnostics.note("nothing was changed")
        return .failed
      }
      let outcome = try removal.remove()
      for role in outcome.removed { try output.writeLine("dropped role \(role)") }
      for role in outcome.kept {
        try output.writeLine(
          "kept role \(role), which was there before, without its privileges here")
      }
      try output.flush()
      diagnostics.note(
        "what the roles owned in this database is role \"\(outcome.newOwner)\"'s now; PUBLIC still may not connect"
      )
      return .ok
    }
  }
}
