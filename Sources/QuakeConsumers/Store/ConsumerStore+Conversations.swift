internal import Basics
package import Postgres
package import QuakeModel

extension ConsumerStore {
  /// The conversations of a consumer as they are stored, to go on with them.
  ///
  /// - Parameters:
  ///   - connection: Also reads what the book asks for later, so no reader may have a page under way on it.
  ///   - admits: See `ConversationBook`.
  package func book(
    _ rule: AlertRule, of consumer: String, after cursor: HistoryCursor,
    over connection: Connection, admits: @escaping (Alert) -> Bool = { _ in true }
  ) throws -> ConversationBook {
    ConversationBook(
      rule: rule,
      conversations: try Self.conversations(
        where: "c.consumer = \(consumer) and c.state <> 'closed'", over: connection),
      after: cursor, source: StoredConversations(consumer: consumer, connection: connection),
      admits: admits)
  }

  /// Where a consumer's conversations find what they do not keep in memory.
  private struct StoredConversations: ConversationSource {
    let consumer: String
    let connection: Connection

    func events(
      _ codes: [EventCode], after token: ChangeToken
    ) throws -> [EventCode: EventRecord] {
      try RecordedEvents(connection: connection).events(codes, after: token)
    }

    func closedConversations(of codes: [EventCode]) throws -> [Conversation] {
      try ConsumerStore.conversations(
        where: """
          c.consumer = \(consumer) and c.state = 'closed' and c.id in (
            select e.conversation from quake.conversation_event e
             where e.consumer = \(consumer) and e.code = any (\(codes.map(\.text))::text[]))
          """, over: connection)
    }
  }

  private static func conversations(
    where condition: SQL, over connection: Connection
  ) throws -> [Conversation] {
    try connection.rows(
      """
      select c.id, c.code, c.state, c.messages::bigint as messages, c.muted, c.passed_at, c.told_at, c.due_at,
             c.told_code, c."time", c.magnitude, c.depth, c.latitude, c.longitude, c.place, c.agency,
             array(select e.code from quake.conversation_event e
                    where e.consumer = c.consumer and e.conversation = c.id) as codes
        from quake.conversation c where \(sql: condition)
      """, format: .binary
    ) { row throws(PostgresError) in
      let code: String = try row["code"]
      let toldAt: Timestamp? = try row["told_at"]
      var told = Alert.Told(code: try row["told_code"] ?? code)
      told.time = try row["time"]
      told.magnitude = try row["magnitude"]
      told.depth = try row["depth"]
      told.latitude = try row["latitude"]
      told.longitude = try row["longitude"]
      told.place = try row["place"]
      told.agency = try row["agency"]
      let state: String = try row["state"]
      let codes: [String] = try row["codes"]
      let messages: Int64 = try row["messages"]
      return Conversation(
        id: try row["id"], code: EventCode(code), codes: Set(codes.map { EventCode($0) }),
        state: .init(rawValue: state) ?? .closed, messages: Int(messages),
        isMuted: try row["muted"], passedAt: try row["passed_at"], toldAt: toldAt,
        dueAt: try row["due_at"], told: toldAt == nil ? nil : told)
    }
  }

  // MARK: - Writing

  func writeConversations(of page: Page, over connection: Connection) throws {
    guard !page.conversations.isEmpty else { return }
    try write(page.conversations, over: connection)
    var rest = page.conversations[...]
    while !rest.isEmpty {
      try writeCodes(of: rest.prefix(Self.portion), over: connection)
      rest = rest.dropFirst(Self.portion)
    }
    try write(page.past, over: connection)
    try deleteOld(page.conversations, over: connection)
  }

  private func write(
    _ conversations: [(consumer: String, conversation: Conversation)], over connection: Connection
  ) throws {
    let all = conversations.map(\.conversation)
    try connection.execute(
      """
      insert into quake.conversation as c
        (consumer, id, code, state, messages, muted, passed_at, told_at, due_at, told_code, "time", magnitude,
         depth, latitude, longitude, place, agency)
      select * from unnest(
        \(conversations.map(\.consumer))::text[], \(all.map(\.id))::text[],
        \(all.map(\.code.text))::text[], \(all.map(\.state.rawValue))::text[],
        \(all.map { Int64($0.messages) })::integer[], \(all.map { $0.isMuted ? "t" : "f" })::boolean[],
        \(all.map { "\($0.passedAt)" })::timestamptz[],
        \(all.map { $0.toldAt?.description })::timestamptz[], \(all.map { "\($0.dueAt)" })::timestamptz[],
        \(all.map { $0.told?.code })::text[], \(all.map { $0.told?.time?.description })::timestamptz[],
        \(all.map { $0.told?.magnitude })::double precision[], \(all.map { $0.told?.depth })::double precision[],
        \(all.map { $0.told?.latitude })::double precision[],
        \(all.map { $0.told?.longitude })::double precision[], \(all.map { $0.told?.place })::text[],
        \(all.map { $0.told?.agency })::text[])
      on conflict (consumer, id) do update
         set code = excluded.code, state = excluded.state, messages = excluded.messages, muted = excluded.muted,
             passed_at = excluded.passed_at, told_at = excluded.told_at, due_at = excluded.due_at,
             told_code = excluded.told_code, "time" = excluded."time", magnitude = excluded.magnitude,
             depth = excluded.depth, latitude = excluded.latitude, longitude = excluded.longitude,
             place = excluded.place, agency = excluded.agency
      """)
  }

  /// Writes which events are which earthquake. An event that has moved is in both conversations' lists of changes.
  private func writeCodes(
    of conversations: ArraySlice<(consumer: String, conversation: Conversation)>,
    over connection: Connection
  ) throws {
    var listed: [(consumer: String, code: String, id: String)] = []
    for (consumer, conversation) in conversations {
      listed += conversation.codes.sorted().map { (consumer, $0.text, conversation.id) }
    }
    try connection.execute(
      """
      with listed as (
        select * from unnest(\(listed.map(\.consumer))::text[], \(listed.map(\.code))::text[],
                             \(listed.map(\.id))::text[]) l (consumer, code, conversation)),
      gone as (
        delete from quake.conversation_event e
         using unnest(\(conversations.map(\.consumer))::text[],
                      \(conversations.map(\.conversation.id))::text[]) c (consumer, id)
         where e.consumer = c.consumer and e.conversation = c.id
           and not exists (select from listed l where l.consumer = e.consumer and l.code = e.code))
      insert into quake.conversation_event as e (consumer, code, conversation)
      select consumer, code, conversation from listed
      on conflict (consumer, code) do update set conversation = excluded.conversation
       where e.conversation <> excluded.conversation
      """)
  }

  /// Notes how conversations were before, for a rewind.
  private func write(
    _ past: [(consumer: String, past: PastConversation)], over connection: Connection
  ) throws {
    guard !past.isEmpty else { return }
    try connection.execute(
      """
      insert into quake.conversation_past (consumer, conversation, token, before)
      select * from unnest(
        \(past.map(\.consumer))::text[], \(past.map(\.past.conversation.id))::text[],
        \(past.map(\.past.token.number))::bigint[], \(past.map { Self.json($0.past.conversation) })::jsonb[])
      on conflict (consumer, conversation, token) do nothing
      """)
  }

  /// The columns of a conversation that change, and its events, as JSON.
  private static func json(_ conversation: Conversation) -> String {
    var json = JSONWriter()
    json.object { json in
      json.member("code", conversation.code.text)
      json.member("state", conversation.state.rawValue)
      json.member("messages", conversation.messages)
      json.member("muted", conversation.isMuted)
      json.member("told_at", conversation.toldAt?.description)
      json.member("due_at", conversation.dueAt.description)
      json.member("told_code", conversation.told?.code)
      json.member("time", conversation.told?.time?.description)
      json.member("magnitude", conversation.told?.magnitude)
      json.member("depth", conversation.told?.depth)
      json.member("latitude", conversation.told?.latitude)
      json.member("longitude", conversation.told?.longitude)
      json.member("place", conversation.told?.place)
      json.member("agency", conversation.told?.agency)
      json.member("codes", conversation.codes.sorted().map(\.text))
    }
    return String(decoding: json.bytes, as: UTF8.self)
  }

  /// Deletes some of the conversations whose time was over when one was closed: more than a page closes on average.
  private func deleteOld(
    _ conversations: [(consumer: String, conversation: Conversation)], over connection: Connection
  ) throws {
    var times: [String: Timestamp] = [:]
    for (consumer, conversation) in conversations where conversation.state == .closed {
      let closedAt = conversation.dueAt.advanced(by: .zero - Conversation.keptAfterClosing)
      times[consumer] = max(closedAt, times[consumer] ?? closedAt)
    }
    guard !times.isEmpty else { return }
    let consumers = times.sorted { $0.key < $1.key }
    try connection.execute(
      """
      delete from quake.conversation c
       using unnest(\(consumers.map(\.key))::text[], \(consumers.map { "\($0.value)" })::timestamptz[])
               p (consumer, at)
       cross join lateral (
         select o.id from quake.conversation o
          where o.consumer = p.consumer and o.state = 'closed' and o.due_at <= p.at
          order by o.due_at limit 1000) old
       where c.consumer = p.consumer and c.id = old.id
      """)
  }

  // MARK: - A rewind

  /// Makes the conversations of a consumer what they were after a transaction.
  ///
  /// - Returns: How many began later and are forgotten, and how many others have become what they were.
  static func restoreConversations(
    of consumer: String, after token: ChangeToken, over connection: Connection
  ) throws(PostgresError) -> (forgotten: Int, restored: Int) {
    let forgotten = try connection.execute(
      """
      delete from quake.conversation
       where consumer = \(consumer) and substring(id from '^[0-9]{1,18}')::int8 > \(token.number)
      """
    ).affectedRows
    let restored = try connection.execute(
      """
      with past as (
        select distinct on (conversation) conversation, before from quake.conversation_past
         where consumer = \(consumer) and token > \(token.number) order by conversation, token),
      moved as (
        delete from quake.conversation_event e using past p
         where e.consumer = \(consumer) and e.conversation = p.conversation
           and not p.before -> 'codes' ? e.code)
      update quake.conversation c
         set code = b.code, state = b.state, messages = b.messages, muted = b.muted, told_at = b.told_at,
             due_at = b.due_at, told_code = b.told_code, "time" = b."time", magnitude = b.magnitude,
             depth = b.depth, latitude = b.latitude, longitude = b.longitude, place = b.place, agency = b.agency
        from past p cross join lateral jsonb_populate_record(null::quake.conversation, p.before) b
       where c.consumer = \(consumer) and c.id = p.conversation
      """
    ).affectedRows
    try connection.execute(
      """
      insert into quake.conversation_event as e (consumer, code, conversation)
      select p.consumer, code, p.conversation
        from (select distinct on (conversation) * from quake.conversation_past
               where consumer = \(consumer) and token > \(token.number) order by conversation, token) p
       cross join jsonb_array_elements_text(p.before -> 'codes') code
      on conflict (consumer, code) do update set conversation = excluded.conversation
      """)
    try connection.execute(
      "delete from quake.conversation_past where consumer = \(consumer) and token > \(token.number)"
    )
    return (forgotten, restored)
  }
}
