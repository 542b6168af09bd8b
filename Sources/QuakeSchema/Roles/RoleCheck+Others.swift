import Postgres

/// Differences for which a person has to decide, because an administrator made them.
extension RoleCheck.Judge {
  /// Privileges of other roles, granted to them themselves, that destroy or run something; and privileges on the
  /// sequences of columns, of which no role needs any.
  mutating func otherGrants() {
    let rows = Dictionary(
      PrivilegeTable.allObjects.map { ($0.object, $0) }, uniquingKeysWith: { first, _ in first })
    let order = directory.grants.filter { !$0.object.isOfPostgreSQL }.sorted {
      ($0.object.name, $0.grantee, $0.privilege, $0.column ?? "")
        < ($1.object.name, $1.grantee, $1.privilege, $1.column ?? "")
    }
    for grant in order {
      let isOurs = names.role(named: grant.grantee) != nil
      if let row = rows[grant.object] {
        // `strangers` reports those on the history, and those through a membership.
        guard !isOurs, !grant.grantee.isEmpty, !row.isHistory else { continue }
        let harms =
          ["DELETE", "TRUNCATE"].contains(grant.privilege)
          || grant.privilege == "EXECUTE" && row.harmlessForPublic.isEmpty
        guard harms else { continue }
      } else if grant.object.kind != .sequence {
        continue
      }
      let role = grant.grantee.isEmpty ? "public" : SQLText.identifier(grant.grantee)
      add(
        .tooMany, grant.grantee.isEmpty ? "PUBLIC" : grant.grantee,
        "\(grant.grantee.isEmpty ? "PUBLIC" : "role \(grant.grantee)") has \(grant.privilege) on \(grant.object.label)",
        object: grant.object.name, item: grant.privilege,
        .revoke(grant.privilege, columns: [], grant.object, from: role), .person)
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
    for deviation in directory.deviations {
      add(
        .changed, names.name(.owner), deviation.text, object: deviation.object,
        .statement(deviation.statement), .person)
    }
  }
}

extension RoleFinding.Kind {
  /// The kinds, the most serious first.
  static let bySeverity: [RoleFinding.Kind] = [
    .changed, .wrongOwner, .tooMany, .missingRole, .tooFew, .missingSetting,
  ]
}
