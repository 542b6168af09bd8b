import CommandLine
import Postgres
import QuakeModel
import QuakeSchema
import QuakeTool

/// `quake-admin roles`: creates, checks and drops the roles of the database.
enum RolesCommand {
  static let table = Command(
    "roles", purpose: "create, check or drop the roles of the database",
    discussion: """
      The roles are owner, writer, editor, reader, watcher, purger and monitor; each name on the server \
      begins with --prefix. docs/security.md lists their privileges. Run this as a superuser, or as \
      a role with CREATEROLE that owns the database.
      """,
    options: [RoleNames.option],
    subcommands: [
      Command(
        "create", purpose: "create missing roles, grant missing privileges, revoke excess ones",
        discussion: """
          The command is one transaction and idempotent: repeat it after a migration, to grant privileges on \
          new tables, and in a restored database. Roles belong to the server: give a second database of one \
          server a --prefix of its own. The owner role becomes the owner of the schema and of its objects. PUBLIC loses \
          its privileges on the database. Existing settings of a role are not changed. The tool \
          hashes passwords (SCRAM-SHA-256), so that the server and its log never see them.
          """,
        options: [
          .value(
            "password-file", "ROLE=FILE", repeatable: true, completion: .files,
            help: "set this role's password to the first line of FILE: writer=/etc/quake/writer"),
          .value(
            "passwords", "DIR", completion: .folders,
            help: "set the password of each role that has a file in DIR: DIR/writer, ..."),
          .flag(
            "writer-purges", help: "allow the writer to purge, for quake-ingest run --keep-history"),
          .flag("dry-run", help: "print the statements without passwords; change nothing"),
        ],
        examples: [
          .init("quake-admin roles create --dry-run", "print the statements"),
          .init("quake-admin roles create --passwords /etc/quake/passwords", "create the roles"),
        ]),
      Command(
        "check", purpose: "list missing and excess privileges",
        discussion: """
          The command also lists the privileges of PUBLIC, what other roles may do, a wrong owner of the schema, \
          missing recommended settings, and what was done to the schema: each object that is missing, changed \
          or not Quake's. It changes nothing. The exit status is 1 if there are differences. What may be on \
          purpose, such as an index of your own, is a note and no difference. The first line counts both.
          """,
        options: [.flag("json", help: "one JSON object a line")],
        examples: [
          .init("quake-admin roles check", "list the differences"),
          .init("quake-admin roles check --json", "list them as JSON"),
        ]),
      Command(
        "drop", purpose: "drop the roles that create made, and their privileges on this database",
        discussion: """
          Objects that the roles own in this database become yours; no event is lost. A role that \
          existed before "create" is kept, but loses its privileges on the schema. The privileges of \
          PUBLIC are not restored.
          """,
        options: [
          Consent.option,
          .flag("dry-run", help: "print the statements; change nothing"),
        ],
        examples: [
          .init("quake-admin roles drop --dry-run", "print the statements"),
          .init("quake-admin roles drop --yes", "drop the roles without a question"),
        ]),
    ])

  static func run(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws -> ExitStatus {
    let names = try RoleNames.read(arguments)
    return switch arguments.subcommand.last {
    case "create": try create(names, arguments, diagnostics)
    case "check": try check(names, arguments, diagnostics)
    default: try drop(names, arguments, diagnostics)
    }
  }

  // MARK: - create

  private static func create(
    _ names: RoleNames, _ arguments: ParsedArguments, _ diagnostics: Diagnostics
  ) throws -> ExitStatus {
    var options = RoleMaker.Options()
    // Passwords are read first, so that an error in a file leaves the server alone.
    do throws(PasswordFile.Failure) {
      options.passwords = try PasswordFile.read(arguments)
    } catch {
      throw arguments.usageError(error.message)
    }
    options.writerPurges = arguments.flag("writer-purges")
    let maker = RoleMaker(
      names, options, over: try DatabaseAccess(arguments, diagnostics).connectToStore())
    let output = StandardOutput()
    if arguments.flag("dry-run") {
      let outcome = try maker.plan()
      try script(outcome.steps.map(\.shown), to: output)
      reportSharing(names, with: outcome.sharedWith, isPlanned: true, diagnostics)
      tellWhatIsLeft(outcome.left, diagnostics)
      return .ok
    }
    let outcome = try maker.make()
    for step in outcome.steps {
      diagnostics.verbose(step.shown)
      if let summary = step.summary { try output.writeResult(summary, diagnostics) }
    }
    let others = outcome.steps.count { $0.summary == nil }
    if outcome.steps.isEmpty {
      try output.writeResult("the roles are as they should be", diagnostics)
    } else if others > 0 {
      try output.writeResult(
        "ran \(Readable.count(others, "statement")) for privileges and settings", diagnostics)
    }
    try output.flush()
    reportSharing(names, with: outcome.sharedWith, isPlanned: false, diagnostics)
    tellWhatIsLeft(outcome.left, diagnostics)
    return .ok
  }

  /// Roles belong to the server: without a prefix of its own, a second database shares those of the first.
  private static func reportSharing(
    _ names: RoleNames, with databases: [String], isPlanned: Bool, _ diagnostics: Diagnostics
  ) {
    guard !databases.isEmpty else { return }
    diagnostics.warning(
      "the roles \(names.name(.owner)), \(names.name(.writer)), ... are also those of \(list(databases))",
      detail: "Each of them has its privileges there and in this database.",
      hint: isPlanned
        ? "For roles of its own, give this database a prefix of its own: \"quake-admin roles create --prefix NAME_\"."
        : "docs/security.md, \"Two databases on one server\", gives the commands for roles of its own."
    )
  }

  /// The databases by name: the first five, and the number of the others.
  private static func list(_ databases: [String]) -> String {
    let names = databases.prefix(5).map { "\"\(PrintableText.clean($0))\"" }
    let others = databases.count - names.count
    return (databases.count == 1 ? "database " : "databases ") + names.joined(separator: ", ")
      + (others > 0 ? " and \(Readable.count(others, "other"))" : "")
  }

  /// Reports differences that this role may not change. They are not a failure of the command.
  private static func tellWhatIsLeft(_ findings: [RoleFinding], _ diagnostics: Diagnostics) {
    for finding in findings {
      diagnostics.warning(
        "left as it is: \(finding.text)",
        hint: finding.needsSuperuser
          ? "Only a superuser can change it: \(finding.statement);"
          : "If this is not intended: \(finding.statement);")
    }
  }

  /// Prints a script that psql runs in one transaction.
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
    let connection = try DatabaseAccess(arguments, diagnostics).connectToStore()
    let findings = try RoleCheck.run(names, over: connection)
    let others = try RoleCheck.otherDatabases(using: names, over: connection)
    if !others.isEmpty {
      diagnostics.note("the roles are also those of \(list(others)) on this server")
    }
    let output = StandardOutput()
    if findings.isEmpty, !arguments.flag("json") {
      try output.writeResult("the roles are as they should be", diagnostics)
      try output.flush()
      return .ok
    }
    try output.write(
      findings, isJSON: arguments.flag("json"), members: members(of:to:), text: text(of:))
    let differences = findings.filter { !$0.isNote }
    guard !differences.isEmpty else { return .ok }
    diagnostics.warning(
      "the roles differ from what is recommended in \(Readable.count(differences.count, "place"))",
      hint: hint(differences, names))
    return .failed
  }

  private static func hint(_ findings: [RoleFinding], _ names: RoleNames) -> String {
    let prefix = names.prefix == RoleNames.standardPrefix ? "" : " --prefix \(names.prefix)"
    let left = findings.count { !$0.isCorrectable }
    var sentences: [String] = []
    if left < findings.count {
      sentences = [
        "Run \"quake-admin roles create\(prefix)\": it grants what is missing after a restore or a migration.",
        "With --dry-run it prints the statements.",
      ]
    }
    if left > 0 {
      sentences.append(
        "\(left == findings.count ? "\"quake-admin roles create\" leaves them" : "It leaves \(left)")"
          + " to a superuser or to your decision; --json prints the statement for each.")
    }
    return sentences.joined(separator: " ")
  }

  private static func text(of findings: [RoleFinding]) -> String {
    let lines = findings.map { "\($0.kind.rawValue): \(PrintableText.clean($0.text))\n" }
    let differences = findings.filter { !$0.isNote }
    var summary =
      differences.isEmpty
      ? "the roles are as they should be"
      : "\(Readable.count(differences.count, "difference")): \(RoleFinding.summary(of: differences))"
    if differences.count < findings.count {
      summary += "; \(Readable.count(findings.count - differences.count, "note"))"
    }
    return summary + "\n" + lines.joined()
  }

  private static func members(of finding: RoleFinding, to json: inout JSONWriter) {
    json.member("kind", finding.kind.rawValue)
    json.member("role", finding.role)
    json.member("object", finding.object)
    json.member("item", finding.item)
    json.member("text", finding.text)
    json.member("statement", finding.statement)
  }

  // MARK: - drop

  private static func drop(
    _ names: RoleNames, _ arguments: ParsedArguments, _ diagnostics: Diagnostics
  ) throws -> ExitStatus {
    let consent = try Consent(arguments, diagnostics)
    let connection = try DatabaseAccess(arguments, diagnostics).connect()
    let removal = RoleRemoval(names, over: connection)
    let output = StandardOutput()
    let plan = try removal.plan()
    if arguments.flag("dry-run") {
      try script(plan.statements, to: output)
      return .ok
    }
    guard !plan.statements.isEmpty else {
      try output.writeResult("there are no such roles", diagnostics)
      try output.flush()
      return .ok
    }
    let list = (plan.removed + plan.kept).joined(separator: ", ")
    guard consent.isGiven("Drop \(list) on \(connection.label)?") else { return .failed }
    let outcome = try removal.remove()
    for role in outcome.removed {
      try output.writeResult("dropped role \(role)", diagnostics)
    }
    for role in outcome.kept {
      try output.writeResult(
        "kept role \(role), which existed before \"create\", without its privileges on this database",
        diagnostics)
    }
    try output.flush()
    diagnostics.note(
      "role \"\(outcome.newOwner)\" now owns the objects of the dropped roles in this database; PUBLIC still may not connect"
    )
    return .ok
  }
}

extension RoleNames {
  static let option = Option.value(
    "prefix", "TEXT", default: standardPrefix, help: "the beginning of each role's name")

  /// The names with the prefix of the command line.
  static func read(_ arguments: ParsedArguments) throws(UsageError) -> RoleNames {
    let prefix = arguments.string("prefix") ?? standardPrefix
    guard let names = RoleNames(prefix: prefix) else {
      throw arguments.invalidValue(
        prefix, for: "prefix",
        expected: "at most 40 lower-case letters, digits and underscores, not beginning with pg_")
    }
    return names
  }
}
