package import Postgres

/// Compares the roles of a database with the table of privileges and the recommended settings.
package struct RoleCheck {
  let directory: RoleDirectory
  /// The differences, in the order in which they can be corrected.
  let findings: [RoleFinding]

  /// Checks the database of `connection`, and changes nothing. For a missing role it reports only that. Notes come
  /// last.
  package static func run(_ names: RoleNames, over connection: Connection) throws -> [RoleFinding] {
    try connection.transaction(.repeatableRead, readOnly: true) {
      try connection.executeScript(RoleDirectory.begin)
      let check = try RoleCheck(names, over: connection)
      let findings = check.findings.filter { finding in
        finding.kind == .missingRole || finding.kind == .wrongOwner
          || finding.kind == .changed || finding.isNote
          || names.role(named: finding.role).map { check.directory.roles[$0] != nil } ?? true
      }
      return findings.filter { !$0.isNote } + findings.filter(\.isNote)
    }
  }

  /// The other databases of the server in which the roles are in use.
  package static func otherDatabases(
    using names: RoleNames, over connection: Connection
  ) throws -> [String] {
    try RoleDirectory.otherDatabases(using: names.all, over: connection).map(\.name)
  }

  /// Checks within a transaction that began with `RoleDirectory.begin`.
  init(_ names: RoleNames, over connection: Connection) throws {
    directory = try RoleDirectory(connection, names: names)
    var judge = Judge(directory: directory, names: names)
    judge.roles()
    judge.memberships()
    judge.owners()
    judge.privileges()
    judge.strangers()
    judge.otherGrants()
    judge.powers()
    // On a newer schema that lets this program go on, Quake's roles may need what this program does not know: taking it
    // away would stop the newer programs.
    let isNewer = try Self.isSchemaNewer(connection)
    findings = judge.findings.filter {
      !isNewer || $0.kind != .tooMany || $0.authority == .person
        || names.role(named: $0.role) == nil
    }
  }

  /// False, too, if the connected role may not know.
  private static func isSchemaNewer(_ connection: Connection) throws -> Bool {
    let mayKnow = try connection.row(
      """
      select coalesce((select has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select')
                         from pg_class c join pg_namespace n on n.oid = c.relnamespace
                        where n.nspname = 'quake' and c.relname = 'migration'), false)
      """, as: Bool.self)
    guard mayKnow, let version = try Migrator.version(of: connection) else { return false }
    return version > Migrator.knownVersion
  }

  struct Judge {
    let directory: RoleDirectory
    let names: RoleNames
    var findings: [RoleFinding] = []
    private let grants: [Holder: [RoleDirectory.Grant]]

    /// A role, by its name, that has privileges on an object.
    private struct Holder: Hashable {
      var object: SecuredObject
      var grantee: String
    }

    init(directory: RoleDirectory, names: RoleNames) {
      self.directory = directory
      self.names = names
      grants = Dictionary(grouping: directory.grants) {
        Holder(object: $0.object, grantee: $0.grantee)
      }
    }

    mutating func add(
      _ kind: RoleFinding.Kind, _ role: String, _ text: String, object: String? = nil,
      item: String? = nil, _ remedy: RoleFinding.Remedy, _ authority: RoleFinding.Authority
    ) {
      findings.append(
        RoleFinding(
          kind: kind, role: role, text: text, object: object, item: item, remedy: remedy,
          authority: authority))
    }

    // MARK: The roles themselves

    mutating func roles() {
      for role in Role.allCases where directory.roles[role] == nil {
        let name = names.name(role)
        add(
          .missingRole, name, "there is no role \(name)",
          .statement("create role \(name) login"), .roles)
      }
      for role in Role.allCases {
        let name = names.name(role)
        for right in directory.roles[role]?.excessive ?? [] {
          add(
            .tooMany, name, "role \(name) \(right)", item: right,
            .statement(
              "alter role \(name) nosuperuser nocreatedb nocreaterole noreplication nobypassrls"),
            .person)
        }
        settings(of: role, name)
      }
    }

    private mutating func settings(of role: Role, _ name: String) {
      let recommended = RoleSettings.recommended(for: role)
      let entry = directory.roles[role]
      if entry?.connectionLimit ?? -1 == -1 {
        add(
          .missingSetting, name, "role \(name) has no connection limit", item: "connection limit",
          .statement("alter role \(name) connection limit \(recommended.connectionLimit)"), .roles)
      }
      // Settings that an administrator has chosen are respected.
      for (setting, value) in recommended.settings
      where entry?.settings.contains(setting) != true {
        let needsMore = setting == RoleSettings.privileged && !directory.caller.mayLimitFiles
        add(
          .missingSetting, name, "role \(name) has no \(setting) in this database", item: setting,
          .statement(
            "alter role \(name) in database \(SQLText.identifier(directory.database)) "
              + "set \(setting) = '\(value)'"), needsMore ? .superuser : .roles)
      }
    }

    mutating func memberships() {
      let monitor = names.name(.monitor)
      let isMonitor = directory.memberships.contains {
        $0.member == monitor && $0.group == "pg_monitor"
      }
      if !isMonitor {
        add(
          .tooFew, monitor, "role \(monitor) is not a member of pg_monitor", item: "pg_monitor",
          .statement("grant pg_monitor to \(monitor)"),
          directory.caller.mayGrantMonitor ? .roles : .superuser)
      }
      // A worker that purges (RoleMaker.Options) or expires events, a server that edits, or keeps cursors of clients.
      let allowed: [(Role, Role)] = [
        (.writer, .purger), (.writer, .editor), (.reader, .editor), (.reader, .watcher),
      ]
      for (member, group) in directory.memberships {
        if allowed.contains(where: { member == names.name($0) && group == names.name($1) }) {
          continue
        }
        if member == monitor, group == "pg_monitor" { continue }
        add(
          .tooMany, member, "role \(member) is a member of role \(group)", item: group,
          .statement("revoke \(SQLText.identifier(group)) from \(member)"), .roles)
      }
    }

    // MARK: Objects

    mutating func owners() {
      let owner = names.name(.owner)
      let schema = SecuredObject(.schema, "quake")
      let objects = [schema] + PrivilegeTable.allObjects.map(\.object)
      for object in objects where object.kind != .database {
        guard let present = directory.owners[object], present != owner,
          !findings.contains(where: { $0.kind == .wrongOwner && $0.object == object.name })
        else { continue }
        add(
          .wrongOwner, owner, "\(object.label) belongs to role \(present)", object: object.name,
          .statement("alter \(object.kind.rawValue) \(object.name) owner to \(owner)"), .objects)
      }
    }

    mutating func privileges() {
      for row in PrivilegeTable.allObjects {
        // If an object is missing, it is optional, or the database has another schema, which other commands
        // report.
        guard directory.owners[row.object] != nil else { continue }
        let object =
          row.object.kind == .database
          ? SecuredObject(.database, SQLText.identifier(directory.database)) : row.object
        // The owner role owns the schema and its objects, but not the database.
        let roles = row.object.kind == .database ? Role.allCases : Role.granted
        for role in roles { judge(row, as: object, role) }
        everybody(row, as: object)
      }
      shared(PrivilegeTable.advisoryLocks, of: "for advisory locks")
      shared(PrivilegeTable.largeObjects, of: "that make large objects")
      let schema = SecuredObject(.schema, "public")
      if directory.grants.contains(
        .init(object: schema, column: nil, privilege: "CREATE", grantee: ""))
      {
        add(
          .tooMany, "PUBLIC", "PUBLIC has CREATE on schema public", object: "public",
          item: "CREATE", .revoke("create", columns: [], schema, from: "public"), .database)
      }
    }

    /// Reports what PUBLIC may use up in one line, because the functions are many.
    private mutating func shared(_ functions: [ObjectPrivileges], of purpose: String) {
      let isOpen = Set(
        directory.grants.filter { $0.grantee.isEmpty && $0.privilege == Privilege.execute.rawValue }
          .map(\.object))
      let open = functions.map(\.object).filter { isOpen.contains($0) }
      if let first = open.first {
        let list = open.map(\.name).joined(separator: ", ")
        add(
          .tooMany, "PUBLIC",
          "PUBLIC has EXECUTE on \(open.count) functions \(purpose), such as \(first.name)",
          object: first.name, item: Privilege.execute.rawValue,
          .statement("revoke execute on function \(list) from public"), authority(first))
      }
      for row in functions where directory.owners[row.object] != nil {
        // Whoever cannot take the privilege from PUBLIC need not give it to a role.
        if isOpen.contains(row.object), !directory.caller.isSuperuser { continue }
        for role in Role.granted { judge(row, as: row.object, role) }
      }
    }

    private func authority(_ object: SecuredObject) -> RoleFinding.Authority {
      if object.isOfPostgreSQL { return directory.caller.isSuperuser ? .database : .superuser }
      return object.kind == .database ? .database : .objects
    }

    private mutating func judge(_ row: ObjectPrivileges, as object: SecuredObject, _ role: Role) {
      let name = names.name(role)
      // The owner of the database needs no grant on it.
      if row.object.kind == .database, directory.databaseOwner == name { return }
      var expected: Set<String> = []
      for privilege in Privilege.allCases {
        if row.grants(privilege, to: role) {
          expected.insert(privilege.rawValue)
          let wanted = RoleDirectory.Grant(
            object: row.object, column: nil, privilege: privilege.rawValue, grantee: name)
          guard !directory.grants.contains(wanted) else { continue }
          add(
            .tooFew, name, "role \(name) lacks \(privilege.rawValue) on \(object.label)",
            object: object.name, item: privilege.rawValue,
            .grant(privilege, columns: [], object, to: name), authority(object))
        }
        let columns = row.columns(privilege, for: role)
        expected.formUnion(columns.map { "\(privilege.rawValue) \($0)" })
        let missing = columns.filter {
          !directory.grants.contains(
            .init(object: row.object, column: $0, privilege: privilege.rawValue, grantee: name))
        }
        if !missing.isEmpty {
          add(
            .tooFew, name,
            "role \(name) lacks \(privilege.rawValue) (\(missing.joined(separator: ", "))) on "
              + object.label, object: object.name, item: privilege.rawValue,
            .grant(privilege, columns: missing, object, to: name), authority(object))
        }
      }
      excess(row, as: object, grantee: name, named: "role \(name)", but: expected)
    }

    private mutating func everybody(_ row: ObjectPrivileges, as object: SecuredObject) {
      excess(
        row, as: object, grantee: "", named: "PUBLIC",
        but: Set(row.harmlessForPublic.map(\.rawValue)))
    }

    private mutating func excess(
      _ row: ObjectPrivileges, as object: SecuredObject, grantee: String, named name: String,
      but expected: Set<String>
    ) {
      let held = (grants[Holder(object: row.object, grantee: grantee)] ?? [])
        .sorted { ($0.privilege, $0.column ?? "") < ($1.privilege, $1.column ?? "") }
      let role = grantee.isEmpty ? "public" : grantee
      for grant in held {
        let columns = grant.column.map { [SQLText.identifier($0)] } ?? []
        let words = grant.privilege + (grant.column.map { " (\($0))" } ?? "")
        if !expected.contains(grant.privilege + (grant.column.map { " \($0)" } ?? "")) {
          add(
            .tooMany, grantee.isEmpty ? "PUBLIC" : grantee,
            "\(name) has \(words) on \(object.label)",
            object: object.name, item: words,
            .revoke(grant.privilege, columns: columns, object, from: role), authority(object))
        } else if directory.grantable.contains(grant) {
          add(
            .tooMany, grantee, "\(name) may grant \(words) on \(object.label) to others",
            object: object.name, item: words,
            .revoke(
              "grant option for " + grant.privilege, columns: columns, object, from: role),
            authority(object))
        }
      }
    }

    /// Reports other roles that may write the history. A person must decide, because an administrator granted
    /// this.
    mutating func strangers() {
      for stranger in directory.strangers {
        add(
          .tooMany, stranger.role,
          "role \(stranger.role) has \(stranger.privilege) on \(stranger.object.label)",
          object: stranger.object.name, item: stranger.privilege,
          .revoke(
            stranger.privilege, columns: [], stranger.object,
            from: SQLText.identifier(stranger.role)), .person)
      }
      for member in directory.ownerMembers {
        let owner = names.name(.owner)
        add(
          .tooMany, member, "role \(member) is a member of role \(owner)", item: owner,
          .statement("revoke \(owner) from \(SQLText.identifier(member))"), .person)
      }
    }
  }
}

/// A difference between the roles of a database and the table of privileges or the recommended settings.
package struct RoleFinding: Sendable {
  package enum Kind: String, Sendable {
    case missingRole = "missing role"
    /// Another role owns an object of the schema.
    case wrongOwner = "wrong owner"
    /// A role, or PUBLIC, has an excess privilege.
    case tooMany = "too many"
    /// A role lacks a privilege.
    case tooFew = "too few"
    /// A recommended setting is not set.
    case missingSetting = "missing setting"
    /// An object of the schema, or a setting, is not as the migrations made it.
    case changed
    /// Something that may be on purpose, and is no difference.
    case note
  }

  /// The change that corrects a difference.
  enum Remedy: Sendable {
    case statement(String)
    /// `columns` is empty for the whole object. `grantee` is a role's name, or `public`.
    case grant(Privilege, columns: [String], SecuredObject, to: String)
    case revoke(String, columns: [String], SecuredObject, from: String)
  }

  /// The authority that the correction needs.
  enum Authority: Sendable {
    /// A role with CREATEROLE.
    case roles
    /// The database's owner.
    case database
    /// The owner of the schema's objects.
    case objects
    /// A superuser, or a role that a superuser has allowed to set it.
    case superuser
    /// A person, who has to decide.
    case person
  }

  /// How many findings of each kind there are, the most serious kinds first: `2 changed, 1 too many`.
  package static func summary(of findings: [RoleFinding]) -> String {
    Kind.bySeverity.compactMap { kind in
      let count = findings.count { $0.kind == kind }
      return count == 0 ? nil : "\(count) \(kind.rawValue)"
    }.joined(separator: ", ")
  }

  package let kind: Kind
  /// The name of the role on the server, or `PUBLIC`.
  package let role: String
  package let text: String
  /// The object; nil if the role itself differs.
  package let object: String?
  /// The privilege or the setting.
  package let item: String?
  let remedy: Remedy
  let authority: Authority

  /// Whether it may be on purpose, and is no difference.
  package var isNote: Bool { kind == .note }

  /// Whether only a superuser, or a role that one has allowed to, can correct it.
  package var needsSuperuser: Bool { authority == .superuser }

  /// Whether `RoleMaker` corrects it. It leaves differences that need a superuser or a person's decision.
  package var isCorrectable: Bool { authority != .person && authority != .superuser }

  /// The statement that corrects it.
  package var statement: String { RoleStatements.text(of: remedy) }
}
