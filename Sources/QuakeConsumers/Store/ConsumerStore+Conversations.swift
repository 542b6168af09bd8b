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

  /// The conversations of a consumer, in any state, about any of these events.
  package func conversations(
    of consumer: String, about codes: [String], over connection: Connection
  ) throws -> [Conversation] {
    try Self.conversations(
      where: """
        c.consumer = \(consumer) and c.id in (
          select e.conversation from quake.conversation_event e
           where e.consumer = \(consumer) and e.code = any (\(codes)::text[]))
        """, over: connection)
  }

  private static func conversations(
    where condition: SQL, over connection: Connection
  ) throws -> [Conversation] {
    try connection.rows(
      """
      select c.id, c.code, c.state, c.messages::bigint as messages, c.passed_at, c.told_at, c.due_at,
             c."time", c.magnitude, c.depth, c.latitude, c.longitude, c.place, c.agency,
             (select coalesce(string_agg(e.code, E'\\n' order by e.code), '')
                from quake.conversation_event e
               where e.consumer = c.consumer and e.conversation = c.id) as codes
        from quake.conversation c where \(sql: condition)
      """, format: .binary
    ) { row throws(PostgresError) in
      var told = Alert.Told(code: try row["code"])
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
        id: try row["id"], state: .init(rawValue: state) ?? .closed, messages: Int(messages),
        passedAt: try row["passed_at"], toldAt: try row["told_at"], dueAt: try row["due_at"],
        told: told, codes: codes.split(separator: "\n").map { String($0) })
    }
  }

  func write(
    _ conversations: [(consumer: String, conversation: Conversation)], over connection: Connection
  ) throws {
    guard !conversations.isEmpty else { return }
    let all = conversations.map(\.conversation)
    try connection.execute(
      """
      insert into quake.conversation as c
        (consumer, id, code, state, messages, passed_at, told_at, due_at, "time", magnitude, depth,
         latitude, longitude, place, agency)
      select * from unnest(
        \(conversations.map(\.consumer))::text[], \(all.map(\.id))::text[],
        \(all.map(\.told.code))::text[], \(all.map(\.state.rawValue))::text[],
        \(all.map { Int64($0.messages) })::integer[], \(all.map { "\($0.passedAt)" })::timestamptz[],
        \(all.map { $0.toldAt?.description })::timestamptz[],
        \(all.map { $0.dueAt?.description })::timestamptz[],
        \(all.map { $0.told.time?.description })::timestamptz[],
        \(all.map(\.told.magnitude))::double precision[], \(all.map(\.told.depth))::double precision[],
        \(all.map(\.told.latitude))::double precision[],
        \(all.map(\.told.longitude))::double precision[], \(all.map(\.told.place))::text[],
        \(all.map(\.told.agency))::text[])
      on conflict (consumer, id) do update
         set code = excluded.code, state = excluded.state, messages = excluded.messages,
             passed_at = excluded.passed_at, told_at = excluded.told_at, due_at = excluded.due_at,
             "time" = excluded."time", magnitude = excluded.magnitude, depth = excluded.depth,
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
      for code in conversation.codes {
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
