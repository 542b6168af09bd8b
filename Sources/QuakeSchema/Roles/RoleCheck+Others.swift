import Postgres

/// Differences for which a person has to decide, because an administrator made them.
extension RoleCheck.Judge {
  /// Privileges of other roles, granted to them themselves; and privileges on the sequences of columns, of which no role
  /// needs any.
  mutating func otherGrants() {
    let rows = Dictionary(
      PrivilegeTable.allObjects.map { ($0.object, $0) }, uniquingKeysWith: { first, _ in first })
    let order = directory.grants.filter { !$0.object.isOfPostgreSQL }.sorted {
      ($0.object.name, $0.grantee, $0.privilege, $0.column ?? "")
        < ($1.object.name, $1.grantee, $1.privilege, $1.column ?? "")
    }
    for grant in order where !directory.superusers.contains(grant.grantee) {
      var kind = RoleFinding.Kind.tooMany
      if let row = rows[grant.object] {
        // `excess` reports those of Quake's roles and of PUBLIC, `strangers` those that write the history.
        let isOurs = names.role(named: grant.grantee) != nil || grant.grantee.isEmpty
        guard !isOurs, !isReported(grant), !row.isUsual(grant) else { continue }
        if row.isHarmless(grant) { kind = .note }
      } else if grant.object.kind != .sequence {
        continue
      }
      let role = grant.grantee.isEmpty ? "public" : SQLText.identifier(grant.grantee)
      let holder = grant.grantee.isEmpty ? "PUBLIC" : "role \(grant.grantee)"
      let item = grant.privilege + (grant.column.map { " (\($0))" } ?? "")
      add(
        kind, grant.grantee.isEmpty ? "PUBLIC" : grant.grantee,
        "\(holder) has \(item) on \(grant.object.label)", object: grant.object.name, item: item,
        .revoke(
          grant.privilege, columns: grant.column.map { [SQLText.identifier($0)] } ?? [],
          grant.object, from: role), .person)
    }
  }

  private func isReported(_ grant: RoleDirectory.Grant) -> Bool {
    directory.strangers.contains {
      $0.role == grant.grantee && $0.object == grant.object && $0.privilege == grant.privilege
    }
  }

  /// What reaches further than a privilege on an object.
  mutating func powers() {
    for (role, parameter, privilege) in directory.parameters {
      let name = role.isEmpty ? "PUBLIC" : role
      add(
        .tooMany, name,
        "\(role.isEmpty ? name : "role \(name)") has \(privilege) on parameter \(parameter), which switches triggers off",
        object: parameter, item: privilege,
        .statement(
          "revoke \(privilege.lowercased()) on parameter \(parameter) from "
            + (role.isEmpty ? "public" : SQLText.identifier(role))), .person)
    }
    for (role, reason) in directory.creators {
      add(
        .tooMany, role,
        "role \(role) can make itself a member of Quake's roles: it \(reason)",
        item: "membership",
        .statement(
          reason.hasSuffix("CREATEROLE")
            ? "alter role \(SQLText.identifier(role)) nocreaterole"
            : "revoke admin option for \(names.all.joined(separator: ", ")) from \(SQLText.identifier(role))"
        ),
        .person)
    }
    for role in directory.readers {
      add(
        .note, role, "role \(role) reads all tables of the server, as a member of pg_read_all_data",
        item: "pg_read_all_data",
        .statement("revoke pg_read_all_data from \(SQLText.identifier(role))"), .person)
    }
    for entry in directory.defaults {
      let holder = entry.grantee.isEmpty ? "PUBLIC" : "role \(entry.grantee)"
      add(
        .tooMany, entry.grantee.isEmpty ? "PUBLIC" : entry.grantee,
        "\(holder) will have \(entry.privilege) on new \(entry.kind) of role \(entry.creator)",
        item: entry.privilege, .statement(entry.revocation), .person)
    }
    for deviation in directory.deviations {
      add(
        deviation.isNote ? .note : .changed, names.name(.owner), deviation.text,
        object: deviation.object, .statement(deviation.statement), .person)
    }
  }
}

extension ObjectPrivileges {
  /// Whether a privilege of a role that is not Quake's is nothing to tell: it leads to no object, or runs a function
  /// that anybody may run.
  fileprivate func isUsual(_ grant: RoleDirectory.Grant) -> Bool {
    switch grant.privilege {
    case Privilege.usage.rawValue: object.kind == .schema || object.kind == .type
    case Privilege.execute.rawValue: !harmlessForPublic.isEmpty
    default: object.kind == .database
    }
  }

  /// Whether it may be on purpose: reading what each reader may read, and writing events as the editor may.
  fileprivate func isHarmless(_ grant: RoleDirectory.Grant) -> Bool {
    switch grant.privilege {
    case Privilege.select.rawValue:
      grants(.select, to: .reader)
        || grant.column.map(columns(.select, for: .reader).contains) ?? false
    case Privilege.insert.rawValue: grants(.insert, to: .editor)
    case Privilege.update.rawValue: grants(.update, to: .editor)
    default: false
    }
  }
}

extension RoleFinding.Kind {
  /// The kinds, the most serious first.
  static let bySeverity: [RoleFinding.Kind] = [
    .changed, .wrongOwner, .tooMany, .missingRole, .tooFew, .missingSetting, .note,
  ]
}
