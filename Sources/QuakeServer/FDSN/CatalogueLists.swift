import Postgres
import QuakeModel

/// The values that some columns have: the catalogues, contributors and types of the store.
enum CatalogueLists {
  /// The most values of a list.
  private static let most = 10_000

  /// The networks, and the catalogues from which the store has its events.
  static func catalogs(over connection: Connection) throws -> [String] {
    try values(
      """
      select q.net from quake.current_quake q union select q.source from quake.current_quake q
       union select \(sql: entries("sources"))
      """, over: connection)
  }

  /// The networks.
  static func contributors(over connection: Connection) throws -> [String] {
    try values(
      "select q.net from quake.current_quake q union select \(sql: entries("sources"))",
      over: connection
    )
  }

  /// All lists as a JSON document.
  static func all(over connection: Connection) throws -> [UInt8] {
    let lists: [(StaticString, [String])] = [
      ("catalogs", try catalogs(over: connection)),
      ("contributors", try contributors(over: connection)),
      ("producttypes", try values("select \(sql: entries("types"))", over: connection)),
      (
        "eventtypes",
        try values("select distinct q.type from quake.current_quake q", over: connection)
      ),
      (
        "magnitudetypes",
        try values("select distinct q.magnitude_type from quake.current_quake q", over: connection)
      ),
    ]
    var json = JSONWriter()
    json.object { json in
      for (name, values) in lists {
        json.array(name) { json in
          for value in values { json.string(value) }
        }
      }
    }
    return json.take()
  }

  /// The entries of a column with lists. Equal lists are divided only once.
  private static func entries(_ column: SQL) -> SQL {
    """
    e.entry from (select distinct q.\(sql: column) as list from quake.current_quake q) l
     cross join lateral pg_catalog.unnest(pg_catalog.string_to_array(l.list, ',')) e (entry)
    """
  }

  private static func values(_ query: SQL, over connection: Connection) throws -> [String] {
    try connection.rows(
      """
      select v.value from (\(sql: query)) v (value) where v.value <> ''
       group by v.value order by v.value collate "C" limit \(most)
      """, as: String.self)
  }
}
