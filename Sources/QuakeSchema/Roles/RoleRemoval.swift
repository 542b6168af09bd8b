package import Postgres
internal import QuakeModel

/// Drops the roles that `RoleMaker` created, and their privileges on this database.
package struct RoleRemoval {
  package struct Outcome: Sendable {
    package let statements: [String]
    package let removed: [String]
    /// Roles that `RoleMaker` did not create. They are kept, but lose their privileges here.
    package let kept: [String]
    /// The new owner of their objects.
    package let newOwner: String
  }

  private let names: RoleNames
  private let connection: Connection

  package init(_ names: RoleNames, over connection: Connection) {
    self.names = names
    self.connection = connection
  }

  /// Plans the statements of `remove` without running them.
  ///
  /// - Throws: As `remove`.
  package func plan() throws -> Outcome {
    try connection.transaction(.repeatableRead, readOnly: true) {
      try connection.executeScript(RoleDirectory.begin)
      return try outcome()
    }
  }

  /// Runs all statements in one transaction. The caller becomes the owner of the roles' objects in this
  /// database.
  ///
  /// - Throws: `StoreError` of kind `conflict` as long as other databases or roles depend on them; `PostgresError` with
  ///   SQLSTATE 42501 if the connected role lacks the privileges.
  package func remove() throws -> Outcome {
    try connection.transaction {
      try connection.executeScript(RoleDirectory.begin)
      let outcome = try outcome()
      for statement in outcome.statements { try connection.execute(SQL(trusted: statement)) }
      return outcome
    }
  }

  private func outcome() throws -> Outcome {
    let directory = try RoleDirectory(connection, names: names)
    let caller = directory.caller
    let present = Role.allCases.filter { directory.roles[$0] != nil }
    let made = present.filter { directory.roles[$0]?.isMade == true }
    let kept = present.filter { directory.roles[$0]?.isMade != true }
    if !present.isEmpty { try authorise(caller, directory) }
    try refuseOtherDatabases(made.map { names.name($0) })
    if !caller.isSuperuser { try refuseShared(made.map { names.name($0) }, directory) }

    var statements: [String] = []
    let list = made.map { names.name($0) }.joined(separator: ", ")
    if !made.isEmpty {
      if !caller.isSuperuser {
        // Only members of a role may reassign its objects.
        statements += made.map {
          "grant \(names.name($0)) to \(SQLText.identifier(caller.name))"
        }
      }
      statements += [
        "reassign owned by \(list) to \(SQLText.identifier(caller.name))",
        "drop owned by \(list)",
      ]
    }
    for role in kept { statements += release(role, directory) }
    if !made.isEmpty { statements.append("drop role \(list)") }
    return Outcome(
      statements: statements, removed: made.map { names.name($0) },
      kept: kept.map { names.name($0) }, newOwner: caller.name)
  }

  private func authorise(_ caller: RoleDirectory.Caller, _ directory: RoleDirectory) throws {
    if let own = names.role(named: caller.name) {
      throw StoreError(
        .conflict, "role \"\(caller.name)\" cannot drop the roles, because it is one of them",
        detail: "It is the \(own.rawValue).",
        hint: "Have a superuser run this, or the role that created them.")
    }
    guard caller.isSuperuser || caller.createsRoles && caller.ownsDatabase else {
      throw PostgresError(
        kind: .server, sqlState: SQLState.insufficientPrivilege,
        message: "role \"\(caller.name)\" cannot drop the roles",
        detail:
          "It is no superuser, and no role with CREATEROLE that owns database \"\(directory.database)\".",
        hint: "Have a superuser run this, or the role that created them.")
    }
  }

  /// Only a superuser can take the privileges on PostgreSQL's own functions away, and without that PostgreSQL does not drop
  /// their roles.
  private func refuseShared(_ roles: [String], _ directory: RoleDirectory) throws(StoreError) {
    let held = RoleStatements.list(
      for: directory.grants.filter { $0.object.isOfPostgreSQL && roles.contains($0.grantee) }
        .sorted { ($0.grantee, $0.object.name) < ($1.grantee, $1.object.name) }
        .map { .revoke($0.privilege, columns: [], $0.object, from: $0.grantee) })
    guard !held.isEmpty else { return }
    throw StoreError(
      .conflict,
      "cannot drop the roles, because a superuser has granted them functions of PostgreSQL",
      detail: "Only a superuser can take these privileges back.",
      hint: "Have a superuser run this, or first: \(held.joined(separator: "; ")).")
  }

  /// PostgreSQL refuses to drop a role on which objects in other databases depend, and reports only their
  /// number.
  private func refuseOtherDatabases(_ roles: [String]) throws {
    let others = try RoleDirectory.otherDatabases(using: roles, over: connection)
    guard !others.isEmpty else { return }
    let details = others.map { other in
      let verb = other.hasObjects ? "own objects" : "have privileges"
      return "In database \"\(other.name)\", they \(verb): \(other.roles.joined(separator: ", "))."
    }
    throw StoreError(
      .conflict, "cannot drop the roles, because they are in use in other databases",
      detail: details.joined(separator: " "),
      hint:
        "Remove their objects and privileges there (\"reassign owned by\", \"drop owned by\"), then repeat; give each Quake database a --prefix of its own."
    )
  }

  /// Revokes the privileges on Quake's objects from a role that `RoleMaker` did not create.
  private func release(_ role: Role, _ directory: RoleDirectory) -> [String] {
    let name = names.name(role)
    // Only a superuser can take privileges on PostgreSQL's own functions away.
    let shared = directory.caller.isSuperuser ? PrivilegeTable.sharedFunctions : []
    let ours = Set((PrivilegeTable.allObjects + shared).map(\.object))
    let grants = directory.grants.filter { $0.grantee == name && ours.contains($0.object) }.sorted {
      ($0.object.name, $0.privilege, $0.column ?? "")
        < ($1.object.name, $1.privilege, $1.column ?? "")
    }
    let database = SQLText.identifier(directory.database)
    let recommended = RoleSettings.recommended(for: role).settings.map(\.name)
    return RoleStatements.list(
      for: grants.map { grant in
        .revoke(
          grant.privilege, columns: grant.column.map { [SQLText.identifier($0)] } ?? [],
          grant.object.kind == .database ? SecuredObject(.database, database) : grant.object,
          from: name)
      })
      + recommended.filter { directory.roles[role]?.settings.contains($0) == true }.map {
        "alter role \(name) in database \(database) reset \($0)"
      }
  }
}
