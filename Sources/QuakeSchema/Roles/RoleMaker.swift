package import Postgres

/// Adapts the roles of a database to the table of privileges: creates missing roles, grants and revokes
/// privileges, and applies recommended settings that are not set.
package struct RoleMaker {
  package struct Options: Sendable {
    /// New passwords of roles. A role without a new one keeps its password.
    package var passwords: [Role: String] = [:]
    /// Make the writer a member of the purger, for a worker that purges (`--keep-history`).
    package var writerPurges = false
    /// Grant what is missing, and take nothing away.
    package var onlyGrants = false

    package init() {}
  }

  package struct Step: Sendable {
    let text: String
    /// The statement without secrets.
    package let shown: String
    /// A phrase to print for the statement; nil for minor statements, which are only counted.
    package let summary: String?
  }

  /// The statements that were run or planned, and the remaining differences.
  package struct Outcome: Sendable {
    package let steps: [Step]
    /// Differences that need a role with more privileges, or a person's decision.
    package let left: [RoleFinding]
    /// The other databases in which the roles are in use, if this database gets them for the first time.
    package let sharedWith: [String]
  }

  private let names: RoleNames
  private let options: Options
  private let connection: Connection

  package init(_ names: RoleNames, _ options: Options = Options(), over connection: Connection) {
    self.names = names
    self.options = options
    self.connection = connection
  }

  /// Plans the statements of `make` without running them.
  package func plan() throws -> Outcome {
    try connection.transaction(.repeatableRead, readOnly: true) {
      try connection.executeScript(RoleDirectory.begin)
      let check = try RoleCheck(names, over: connection)
      return Outcome(
        steps: try steps(for: check),
        left: check.findings.filter { !$0.isCorrectable && !$0.isNote },
        sharedWith: sharedWith(check))
    }
  }

  /// Runs all statements in one transaction.
  ///
  /// - Throws: `PostgresError` with SQLSTATE 42501 if the connected role lacks the privileges.
  package func make() throws -> Outcome {
    try connection.transaction {
      try connection.executeScript(RoleDirectory.begin)
      try authorise(try RoleCheck(names, over: connection))
      // The lock excludes other calls and migrations, whose new objects would be missed.
      try connection.execute("lock table quake.migration in share row exclusive mode")
      let check = try RoleCheck(names, over: connection)
      let steps = try steps(for: check)
      for step in steps { try run(step) }
      return Outcome(
        steps: steps, left: try RoleCheck(names, over: connection).findings.filter { !$0.isNote },
        sharedWith: sharedWith(check))
    }
  }

  /// Roles that another database uses already would have the privileges of both.
  private func sharedWith(_ check: RoleCheck) -> [String] {
    let isFirst = !check.directory.grants.contains {
      $0.object.kind == .database && names.role(named: $0.grantee) != nil
    }
    return isFirst ? check.directory.otherDatabases.map(\.name) : []
  }

  /// An error must not carry the verifier of a password.
  private func run(_ step: Step) throws(PostgresError) {
    do throws(PostgresError) {
      try connection.execute(SQL(trusted: step.text))
    } catch {
      var error = error
      error.statement = step.shown
      throw error
    }
  }

  private func steps(for check: RoleCheck) throws -> [Step] {
    let caller = check.directory.caller
    let findings = check.findings.filter {
      $0.isCorrectable
        && (!options.onlyGrants || [.missingRole, .wrongOwner, .tooFew].contains($0.kind))
    }
    var steps: [Step] = []
    func run(_ statements: [String]) {
      steps += statements.map { Step(text: $0, shown: $0, summary: nil) }
    }
    for finding in findings where finding.authority == .roles {
      let text = finding.statement
      guard finding.kind == .missingRole, let role = names.role(named: finding.role) else {
        run([text])
        continue
      }
      steps.append(Step(text: text, shown: text, summary: "created role \(finding.role)"))
      // `RoleRemoval` recognises by the comment which roles were created here.
      run([
        "comment on role \(finding.role) is \(SQLText.literal(RoleDirectory.comment(role)))"
      ])
    }
    if !caller.isSuperuser, !caller.isOwnerMember,
      findings.contains(where: { $0.authority == .objects })
    {
      // To change an object's owner, and to grant privileges on it, the caller must be a member of the new
      // owner.
      run(["grant \(names.name(.owner)) to \(SQLText.identifier(caller.name))"])
    }
    run(RoleStatements.list(for: findings.filter { $0.authority == .database }.map(\.remedy)))
    run(RoleStatements.list(for: findings.filter { $0.authority == .objects }.map(\.remedy)))
    let purges = check.directory.memberships.contains {
      $0.member == names.name(.writer) && $0.group == names.name(.purger)
    }
    if options.writerPurges, !purges {
      run(["grant \(names.name(.purger)) to \(names.name(.writer))"])
    }
    for role in Role.allCases {
      guard let password = options.passwords[role] else { continue }
      let name = names.name(role)
      // The password is hashed here, so that neither the server nor its log sees it.
      let verifier = try connection.scramVerifier(password: password, role: name)
      steps.append(
        Step(
          text: "alter role \(name) password \(SQLText.literal(verifier))",
          shown: "alter role \(name) password '...'", summary: "set the password of role \(name)"))
    }
    return steps
  }

  /// Checks the caller's privileges before the first change.
  private func authorise(_ check: RoleCheck) throws {
    let caller = check.directory.caller
    guard !caller.isSuperuser else { return }
    let findings = check.findings.filter {
      $0.isCorrectable
        && (!options.onlyGrants || [.missingRole, .wrongOwner, .tooFew].contains($0.kind))
    }
    var lacks: [String] = []
    let needsRoles =
      findings.contains { $0.authority == .roles } || !options.passwords.isEmpty
      || options.writerPurges
    if needsRoles, !caller.createsRoles { lacks.append("lacks CREATEROLE") }
    if findings.contains(where: { $0.authority == .database }), !caller.ownsDatabase {
      lacks.append("does not own database \"\(check.directory.database)\"")
    }
    let owners = Set(
      findings.filter { $0.authority == .objects }.compactMap { finding in
        check.directory.owners.first { $0.key.name == finding.object }?.value
      })
    let foreign = try owners.sorted().filter { owner in
      try !connection.row("select pg_has_role(\(owner), 'usage')", as: Bool.self)
        // A caller with CREATEROLE makes itself a member of the owner.
        && !(owner == names.name(.owner) && caller.createsRoles)
    }
    if let owner = foreign.first {
      lacks.append("does not own the objects of schema quake, which are role \"\(owner)\"'s")
    }
    guard !lacks.isEmpty else { return }
    throw PostgresError(
      kind: .server, sqlState: SQLState.insufficientPrivilege,
      message: "role \"\(caller.name)\" cannot make the roles",
      detail: "It is no superuser, and " + lacks.joined(separator: ", and ") + ".",
      hint:
        "Have a superuser run this, or a role with CREATEROLE that owns the database and the schema."
    )
  }
}
