import Glibc
import Postgres
import TestSupport

/// Compares the whole contents of an unfiltered feed with the tables, in the server: it reads the JSON
/// by its own means, and is quick with it.
struct HistoryComparison {
  private let connection: Connection

  /// Takes in what a watcher printed from the beginning on, from a file of whole lines that the
  /// server's account may read.
  init(_ connection: Connection, file: String) throws {
    self.connection = connection
    try connection.run(
      "create schema if not exists proof",
      "drop table if exists proof.line, proof.change",
      "create unlogged table proof.line (n bigint generated always as identity, line text)",
      // Neither character occurs in JSON.
      "copy proof.line (line) from '\(file)' with (format csv, quote E'\\x01', delimiter E'\\x02')",
      """
      create unlogged table proof.change as
      select n, split_part(j ->> 'token', '.', 1)::bigint as token, j ->> 'token' as name,
             (j ->> 'position')::bigint as position, j ->> 'op' as op, j ->> 'code' as code,
             array(select jsonb_array_elements_text(j -> 'changed')) as changed,
             case when j -> 'old' <> 'null' then jsonb_populate_record(null::quake.quake, j -> 'old') end as old,
             case when j -> 'new' <> 'null' then jsonb_populate_record(null::quake.quake, j -> 'new') end as new
        from (select n, line::jsonb as j from proof.line offset 0) l  -- else it is read for each column
       where j ->> 'op' <> 'heartbeat'
      """,
      "create index on proof.change (token, position)", "analyze proof.change")
  }

  /// Changes whose contents are not what the tables hold: number and first examples.
  func wrongChanges() throws -> [String] {
    try connection.table(
      """
      with stored as (
        select t.token, t.token || '.' || t.nonce as name, row_number() over w - 1 as position,
               v.op, v.code, coalesce(v.changed, '{}') as changed,
               \(Self.event("v")) as row, lag(\(Self.event("v"))) over (partition by v.code order by v.id) as before
          from quake.change_transaction t
          join quake.quake_version v on v.transaction_id = t.transaction_id
        window w as (partition by t.token order by v.id)
      )
      select coalesce(s.name, c.name), coalesce(s.position, c.position), s.op, c.op, s.code, c.code
        from stored s
        full join proof.change c on c.token = s.token and c.position = s.position
       where (s.name, s.op, s.code, s.changed) is distinct from (c.name, c.op, c.code, c.changed)
          or case s.op when 'insert' then s.row end is distinct from case s.op when 'insert' then c.new end
          or case s.op when 'update' then s.row end is distinct from case s.op when 'update' then c.new end
          or case s.op when 'update' then s.before end is distinct from case s.op when 'update' then c.old end
          or case s.op when 'delete' then s.row end is distinct from case s.op when 'delete' then c.old end
          or (c.old is null) <> (c.op in ('insert', 'truncate'))
          or (c.new is null) <> (c.op in ('delete', 'truncate'))
       limit 20
      """)
  }

  /// Events in which the feed, up to a token, and a table of events differ.
  func wrongStates(of table: String, at token: Int64) throws -> [String] {
    try connection.table(
      """
      with newest as (
        select distinct on (c.code) c.op, c.new
          from proof.change c
         where c.token <= \(token) and c.op <> 'truncate'
           and c.n > coalesce((select max(e.n) from proof.change e
                                where e.op = 'truncate' and e.token <= \(token)), 0)
         order by c.code, c.n desc
      ), state as (
        select (n.new).* from newest n where n.op <> 'delete'
      )
      (select 'feed', s.code from (select * from state except select * from \(table)) s limit 10)
      union all
      (select 'table', s.code from (select * from \(table) except select * from state) s limit 10)
      """)
  }

  /// The event in a row of the history.
  private static func event(_ version: String) -> String {
    "row(\(columns.map { "\(version).\($0)" }.joined(separator: ", ")))::quake.quake"
  }

  private static let columns = """
    code net net_code source type status magnitude magnitude_type place time updated longitude latitude
    depth title url detail felt cdi mmi alert tsunami sig nst dmin rms gap ids sources types as_of
    validated withdrawn_at superseded_by first_stored
    """.split(whereSeparator: \.isWhitespace).map(String.init)
}
