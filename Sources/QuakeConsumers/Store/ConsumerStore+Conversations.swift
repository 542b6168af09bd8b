package import Postgres
internal import QuakeModel

extension ConsumerStore {
  /// The conversations of a consumer that are not closed.
  package func openConversations(
    of consumer: String, over connection: Connection
  ) throws -> [Conversation] {
    try Self.conversations(
      where: "c.consumer = \(consumer) and c.state <> 'closed'", over: connection)
  }

  /// The closed conversations of a consumer in which events are or were the earthquake.
  package func closedConversations(
    of consumer: String, about codes: [String], over connection: Connection
  ) throws -> [Conversation] {
    try Self.conversations(
      where: """
        c.consumer = \(consumer) and c.state = 'closed' and c.id in (
          select e.conversation from quake.conversation_event e
           where e.consumer = \(consumer) and e.code = any (\(codes)::text[]))
        """, over: connection)
  }

  /// The closed conversation of a consumer in which an event is or was the earthquake.
  package func closedConversation(
    of consumer: String, about code: String, over connection: Connection
  ) throws -> Conversation? {
    try closedConversations(of: consumer, about: [code], over: connection).first
  }

  /// The conversations of consumers that are not closed, and of which nothing is told.
  package func mutedConversations(
    of consumers: [String], over connection: Connection
  ) throws -> [(consumer: String, id: String)] {
    try connection.rows(
      """
      select consumer, id from quake.conversation
       where consumer = any (\(consumers)::text[]) and muted and state <> 'closed'
      """, as: (String, String).self
    ).map { (consumer: $0, id: $1) }
  }

  private static func conversations(
    where condition: SQL, over connection: Connection
  ) throws -> [Conversation] {
    try connection.rows(
      """
      select c.id, c.code, c.state, c.messages::bigint as messages, c.passed_at, c.told_at, c.due_at,
             c.told_code, c."time", c.magnitude, c.depth, c.latitude, c.longitude, c.place, c.agency,
             (select coalesce(string_agg(e.code, E'\\n' order by e.code), '')
                from quake.conversation_event e
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
      let codes: String = try row["codes"]
      let messages: Int64 = try row["messages"]
      return Conversation(
        id: try row["id"], code: code, codes: Set(codes.split(separator: "\n").map { String($0) }),
        state: .init(rawValue: state) ?? .closed, messages: Int(messages),
        passedAt: try row["passed_at"], toldAt: toldAt, dueAt: try row["due_at"],
        told: toldAt == nil ? nil : told)
    }
  }

  func write(_ page: Page, over connection: Connection) throws {
    if !page.removed.isEmpty {
      try connection.execute(
        """
        delete from quake.conversation c
         using unnest(\(page.removed.map(\.consumer))::text[], \(page.removed.map(\.id))::text[])
                 r (consumer, id)
         where c.consumer = r.consumer and c.id = r.id
        """)
    }
    try write(page.conversations, over: connection)
    if !page.muted.isEmpty {
      try connection.execute(
        """
        update quake.conversation c set muted = true
          from unnest(\(page.muted.map(\.consumer))::text[], \(page.muted.map(\.id))::text[])
                 m (consumer, id)
         where c.consumer = m.consumer and c.id = m.id
        """)
    }
  }

  private func write(
    _ conversations: [(consumer: String, conversation: Conversation)], over connection: Connection
  ) throws {
    guard !conversations.isEmpty else { return }
    let all = conversations.map(\.conversation)
    try connection.execute(
      """
      insert into quake.conversation as c
        (consumer, id, code, state, messages, passed_at, told_at, due_at, told_code, "time", magnitude, depth,
         latitude, longitude, place, agency)
      select * from unnest(
        \(conversations.map(\.consumer))::text[], \(all.map(\.id))::text[],
        \(all.map(\.code))::text[], \(all.map(\.state.rawValue))::text[],
        \(all.map { Int64($0.messages) })::integer[], \(all.map { "\($0.passedAt)" })::timestamptz[],
        \(all.map { $0.toldAt?.description })::timestamptz[],
        \(all.map { $0.dueAt?.description })::timestamptz[],
        \(all.map { $0.told?.code })::text[], \(all.map { $0.told?.time?.description })::timestamptz[],
        \(all.map { $0.told?.magnitude })::double precision[], \(all.map { $0.told?.depth })::double precision[],
        \(all.map { $0.told?.latitude })::double precision[],
        \(all.map { $0.told?.longitude })::double precision[], \(all.map { $0.told?.place })::text[],
        \(all.map { $0.told?.agency })::text[])
      on conflict (consumer, id) do update
         set code = excluded.code, state = excluded.state, messages = excluded.messages,
             passed_at = excluded.passed_at, told_at = excluded.told_at, due_at = excluded.due_at,
             told_code = excluded.told_code, "time" = excluded."time", magnitude = excluded.magnitude, depth = excluded.depth,
             latitude = excluded.latitude, longitude = excluded.longitude, place = excluded.place,
             agency = excluded.agency
      """)
    try writeCodes(of: conversations, over: connection)
  }

  /// A code that has moved is that of the conversation it is in now.
  private func writeCodes(
    of conversations: [(consumer: String, conversation: Conversation)], over connection: Connection
  ) throws {
    var consumers: [String] = []
    var codes: [String] = []
    var ids: [String] = []
    for (consumer, conversation) in conversations {
      for code in conversation.codes.sorted() {
        consumers.append(consumer)
        codes.append(code)
        ids.append(conversation.id)
      }
    }
    try connection.execute(
      """
      with listed as (
        select * from unnest(\(consumers)::text[], \(codes)::text[], \(ids)::text[])
                      with ordinality l (consumer, code, conversation, n)),
      gone as (
        delete from quake.conversation_event e
         using unnest(\(conversations.map(\.consumer))::text[],
                      \(conversations.map(\.conversation.id))::text[]) c (consumer, id)
         where e.consumer = c.consumer and e.conversation = c.id
           and not exists (select from listed l where l.consumer = e.consumer and l.code = e.code))
      insert into quake.conversation_event as e (consumer, code, conversation)
      select distinct on (consumer, code) consumer, code, conversation from listed
       order by consumer, code, n desc
      on conflict (consumer, code) do update set conversation = excluded.conversation
       where e.conversation <> excluded.conversation
      """)
  }
}
