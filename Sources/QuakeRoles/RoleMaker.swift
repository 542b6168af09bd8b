public import Postgres

/// Makes the roles of a database what the table of privileges says: makes those that are missing, grants
/// and revokes, and sets what is recommended and not set.
public struct RoleMaker {
  /// What is wanted besides.
  public struct Options: Sendable {
    /// Passwords for roles; a role without one keeps what it has.
    public var passwords: [Role: String] = [:]
    /// Make the writer a member of the purger, for a worker that purges (`--keep-history`).
    public var writerPurges = false

    /// Nothing.
    public init() {}
  }

  /// A statement that is to be run.
  public struct Step: Sendable {
    /// As it is run.
    let text: String
    /// Without a secret.
    public let shown: String
    /// In a few words, where it is worth a line of its own; nil: it is one of many.
    public let summary: String?
  }

  /// What was done, or would be.
  public struct Outcome: Sendable {
    /// The statements, in order.
    public let steps: [Step]
    /// What remains for somebody with more rights, or for a person to decide.
    public let left: [RoleFinding]
  }

  private let names: RoleNames
  private let options: Options
  private let connection: Connection

  /// A maker of roles with these names over `connection`.
  public init(_ names: RoleNames, _ options: Options = Options(), over connection: Connection) {
    self.names = names
    self.options = options
    self.connection = connection
  }

  /// What `make` would do; changes nothing.
  public func plan() throws -> Outcome {
    try connection.transaction(.repeatableRead, readOnly: true) {
      try connection.executeScript(RoleDirectory.begin)
      let check = try RoleCheck(names, over: connection)
      return Outcome(steps: try steps(for: check), left: check.findings.filter(Self.isLeft))
    }
  }

  /// Does all in one transaction.
  ///
  /// - Throws: `PostgresError` with SQLSTATE 42501 if the caller may not.
  public func make() throws -> Outcome {
    try connection.transaction {
      try connection.executeScript(RoleDirectory.begin)
      try authorise(try RoleCheck(names, over: connection))
      // One at a time, and no migration meanwhile: what it makes would be left out.
      try connection.execute("lock table quake.migration in share row exclusive mode")
      let steps = try steps(for: try RoleCheck(names, over: connection))
      for step in steps { try run(step) }
      return Outcome(steps: steps, left: try RoleCheck(names, over: connection).findings)
    }
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

  private static func isLeft(_ finding: RoleFinding) -> Bool {
    finding.authority == .nobody || finding.authority == .superuser
  }

  private func steps(for check: RoleCheck) throws -> [Step] {
    let caller = check.directory.caller
    let findings = check.findings.filter { !Self.isLeft($0) }
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
      // By this a removal knows the roles that were made here.
      run([
        "comment on role \(finding.role) is \(SQLText.literal(RoleDirectory.comment(role)))"
      ])
    }
    if !caller.isSuperuser, !caller.isOwnerMember,
      findings.contains(where: { $0.authority == .objects })
    {
      // Who gives an object to a role must be able to act as that role, and grants with its rights.
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
      // Hashed here: neither the server nor its log sees the password.
      let verifier = try connection.scramVerifier(password: password, role: name)
      steps.append(
        Step(
          text: "alter role \(name) password \(SQLText.literal(verifier))",
          shown: "alter role \(name) password '...'", summary: "set the password of role \(name)"))
    }
    return steps
  }

  /// Says before anything is tried what the caller lacks.
  private func authorise(_ check: RoleCheck) throws {
    let caller = check.directory.caller
    guard !caller.isSuperuser else { return }
    let findings = check.findings.filter { !Self.isLeft($0) }
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
      try connection.execute("select pg_has_role($1, 'usage')", [.text(owner)]).bool(0, 0) != true
        // A creator of roles makes itself a member of the owner.
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
