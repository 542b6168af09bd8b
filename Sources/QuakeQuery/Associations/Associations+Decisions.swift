internal import Postgres
internal import QuakeModel

extension Associations {
  /// Decides that two events are the same earthquake, however far apart they are.
  ///
  /// - Throws: `StoreError` of kind `badData` if one of the events does not exist, is superseded or withdrawn;
  ///   of kind `conflict` if the decision contradicts another one, or if both events are of one source.
  package func join(_ id: String, _ other: String) throws {
    try decide(id, other, together: true)
  }

  /// Decides that two events are different earthquakes, however near they are.
  ///
  /// - Throws: `StoreError` of kind `badData` if one of the events does not exist.
  package func split(_ id: String, _ other: String) throws {
    try decide(id, other, together: false)
  }

  /// Clears the decision about two events. Returns false if there is none.
  package func forget(_ id: String, _ other: String) throws -> Bool {
    try repeating {
      try connection.transaction {
        try begin()
        let (code, second) = (try self.code(of: id), try self.code(of: other))
        let wasDecided = try clear(code, second)
        _ = try compareIfEnabled([code, second])
        return wasDecided
      }
    }
  }

  /// Decides that no two events of an earthquake belong together. Returns the events; none if the event has
  /// no association.
  package func dissolve(_ id: String) throws -> [String] {
    try repeating {
      try connection.transaction {
        try begin()
        let codes = try connection.rows(
          """
          select m.code from quake.association a join quake.association m on m.preferred = a.preferred
           where a.code = \(try code(of: id)) order by m.code collate "C"
          """, as: String.self)
        for (place, code) in codes.enumerated() {
          for other in codes[(place + 1)...] { try pin(code, other, together: false) }
        }
        _ = try compareIfEnabled(codes)
        return codes
      }
    }
  }

  /// Ends all associations, and no longer associates events. Manual decisions are kept.
  package func dissolveAll() throws {
    try connection.transaction {
      try connection.execute(AssociationStatements.lock)
      try connection.execute("update quake.association_settings set enabled = false")
    }
    var isDone = false
    while !isDone {
      try repeating {
        try connection.transaction {
          try begin()
          let released = try connection.execute(
            """
            with chosen as materialized (
              select a.code, a.preferred from quake.association a order by a.code limit 5000
            ), held as materialized (
              select q.code from quake.quake q join chosen c on c.code = q.code and c.preferred = q.superseded_by
               order by q.code collate "C" for no key update of q
            ), shown as (
              update quake.quake q set superseded_by = null from held h where q.code = h.code
            )
            delete from quake.association a using chosen c where a.code = c.code
            """)
          isDone = released.affectedRows == 0
        }
      }
    }
  }

  /// The earthquake that an event belongs to; nil: the event has no association.
  ///
  /// - Throws: `StoreError` of kind `badData` if there is no event of this id.
  package func earthquake(of id: String) throws -> AssociatedEarthquake? {
    try AssociatedEarthquake.find(try code(of: id), over: connection)
  }

  private func decide(_ id: String, _ other: String, together: Bool) throws {
    try repeating {
      try connection.transaction {
        try begin()
        let (code, second) = (try self.code(of: id), try self.code(of: other))
        guard code != second else {
          throw StoreError(.badData, "\"\(id)\" and \"\(other)\" are one event")
        }
        try pin(code, second, together: together)
        if together { try requireEnabled() }
        _ = try compareIfEnabled([code, second])
        if together { try check(code, second) }
      }
    }
  }

  private func compareIfEnabled(_ codes: [String]) throws -> AssociationOutcome? {
    guard try AssociationSettings(over: connection).isEnabled else { return nil }
    return try compare(codes)
  }

  private func pin(_ code: String, _ other: String, together: Bool) throws {
    try clear(code, other)
    try connection.execute(
      """
      insert into quake.association_pin (code, other, together, author)
      values (least(\(code)::text collate "C", \(other)::text collate "C"),
              greatest(\(code)::text collate "C", \(other)::text collate "C"), \(together), \(author))
      """)
  }

  /// Clears the decisions about two events under all their ids. Returns whether there was one.
  @discardableResult
  private func clear(_ code: String, _ other: String) throws -> Bool {
    let codes: SQL = "\([code, other])::text[]"
    let cleared = try connection.execute(
      """
      with id (code, id) as (
        select * from unnest(\(sql: codes), \(sql: codes)) o (code, id)
         union
        select a.code, a.id from quake.quake_alias a
         where a.code = any (\(sql: codes)) and \(sql: AssociationStatements.isAlias("a"))
      )
      delete from quake.association_pin p using id a, id b
       where a.code <> b.code and p.code = a.id and p.other = b.id
      """)
    return cleared.affectedRows > 0
  }

  /// The code of an event, by any of its ids. An event that was superseded for another reason than a change of
  /// its preferred id is found under its own code.
  private func code(of id: String) throws -> String {
    let found = try connection.firstRow(
      """
      select q.code from quake.quake q
       where q.code = \(id)
          or q.code = (select a.code from quake.quake_alias a
                        where a.id = \(id) and \(sql: AssociationStatements.isAlias("a")))
       order by q.code = \(id) limit 1
      """, as: String.self)
    guard let code = found else {
      throw StoreError(.badData, "there is no event \"\(id)\"")
    }
    return code
  }

  /// Whether a decision that is linked with one of two events cannot be followed.
  private static func isBroken(_ code: String, _ other: String) -> SQL {
    """
    with recursive decision as materialized (\(sql: AssociationStatements.decisions)), linked (code) as (
      select * from unnest(\([code, other])::text[]) e (code)
       union
      select case when d.code = l.code then d.other else d.code end
        from linked l join decision d on d.together and (d.code = l.code or d.other = l.code)
    )
    select exists (
      select from linked l
        join decision n on n.together and n.code = l.code
        join quake.quake p on p.code = n.code
        join quake.quake q on q.code = n.other
        left join quake.association a on a.code = n.code
        left join quake.association b on b.code = n.other
       where a.preferred is distinct from b.preferred
         and \(sql: AssociationStatements.isEligible("p"))
         and \(sql: AssociationStatements.isEligible("q")))
    """
  }

  /// Checks that a decision to join two events could be followed.
  private func check(_ code: String, _ other: String) throws {
    let state = try connection.firstRow(
      """
      select a.preferred = b.preferred, p.source = q.source,
             case when p.withdrawn_at is not null then p.code when q.withdrawn_at is not null then q.code end,
             case when p.superseded_by is not null and a.code is null then p.code
                  when q.superseded_by is not null and b.code is null then q.code end,
             case when p.longitude is null then p.code when q.longitude is null then q.code end
        from quake.quake p
       cross join quake.quake q
        left join quake.association a on a.code = p.code
        left join quake.association b on b.code = q.code
       where p.code = \(code) and q.code = \(other)
      """, as: (Bool?, Bool?, String?, String?, String?).self)
    let (isJoined, isOneSource, withdrawn, superseded, unlocated) =
      state ?? (nil, nil, nil, nil, nil)
    if isJoined == true, try !connection.row(Self.isBroken(code, other), as: Bool.self) { return }
    let message = "cannot join \"\(code)\" and \"\(other)\""
    if isOneSource == true {
      throw StoreError(
        .conflict, "\(message): both are of one source",
        detail: "A source says itself, by the ids of its events, which of them are the same.",
        hint: "To hide one of them, set its superseded_by: quake-admin events set.")
    }
    for (event, reason) in [
      (withdrawn, "is withdrawn"), (superseded, "is superseded"), (unlocated, "has no epicentre"),
    ] {
      if let event { throw StoreError(.badData, "\(message): \"\(event)\" \(reason)") }
    }
    throw StoreError(
      .conflict, "\(message): it contradicts other decisions",
      detail: """
        An earthquake has at most one event of each source, and a person has joined one of the events with \
        another event of the same source, or has separated it from one of these.
        """, hint: "\"quake-admin associations forget\" clears a decision.")
  }
}
