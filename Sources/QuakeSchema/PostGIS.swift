package import Postgres
internal import QuakeModel

/// The geometry of the events, for programs that read PostGIS: a generated column `geom` of `quake.quake`
/// with an index, and the view `quake.quake_point`.
///
/// It is not part of the migrations, because most databases have no PostGIS. The history does not record
/// the column, and imports do not mention it.
package enum PostGIS {
  private static let mark = "made by quake-admin postgis enable"

  /// Adds the column, its index and the view. This writes the table anew; readers and writers wait for it.
  ///
  /// - Returns: False if they were there already.
  /// - Throws: `StoreError` of kind `conflict` if the server lacks PostGIS or the table has another column
  ///   `geom`, of kind `locked` if the locks are not available in time; `PostgresError`.
  package static func enable(
    over connection: Connection, patience: LockPatience = LockPatience()
  ) throws -> Bool {
    try patience.transaction(over: connection, "enable PostGIS") {
      try connection.execute("lock table quake.quake in access exclusive mode")
      guard try !isEnabled(connection) else {
        try giveToOwner(connection)  // roles may have been created since
        try connection.executeScript(grants)
        return false
      }
      let schema = SQL(identifier: try extensionSchema(connection))
      let point: SQL = "\(sql: schema).st_makepoint(longitude, latitude)"
      try connection.execute(
        """
        alter table quake.quake add column geom \(sql: schema).geometry(Point, 4326)
          generated always as (\(sql: schema).st_setsrid(\(sql: point), 4326)) stored
        """)
      try connection.executeScript(view)
      try giveToOwner(connection)
      try connection.executeScript(grants)
      return true
    }
  }

  /// Removes the view, the index and the column. The extension stays.
  ///
  /// - Returns: False if they were not there.
  /// - Throws: `StoreError` of kind `locked` if the locks are not available in time; `PostgresError`.
  package static func disable(
    over connection: Connection, patience: LockPatience = LockPatience()
  ) throws -> Bool {
    try patience.transaction(over: connection, "disable PostGIS") {
      try connection.execute("lock table quake.quake in access exclusive mode")
      guard try isEnabled(connection) else { return false }
      try connection.executeScript(
        "drop view if exists quake.quake_point; alter table quake.quake drop column geom")
      return true
    }
  }

  /// What `enable` adds to the objects of the schema.
  static func listing(over connection: Connection) throws(PostgresError) -> SchemaListing {
    let schema = try connection.firstRow(
      """
      select quote_ident(n.nspname)
        from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'postgis'
      """, as: String.self)
    guard let schema else { return SchemaListing(text: "") }
    return SchemaListing(
      text: """
        column geom of table quake.quake\ttype: \(schema).geometry(Point,4326)\tnull values: allowed\t\
        generated: \(schema).st_setsrid(\(schema).st_makepoint(longitude, latitude), 4326)
        index quake.quake_geom of table quake.quake\t\
        definition: CREATE INDEX quake_geom ON quake.quake USING gist (geom)\tstate: valid
        view quake.quake_point\ttext: 572b774bfe5d4c0d691f30facc341eec
        """)
  }

  /// Whether the column is there, by its comment.
  private static func isEnabled(_ connection: Connection) throws -> Bool {
    let isOurs = try connection.firstRow(
      """
      select coalesce(starts_with(col_description(a.attrelid, a.attnum), \(mark)), false)
        from pg_attribute a
       where a.attrelid = to_regclass('quake.quake') and a.attname = 'geom' and not a.attisdropped
      """, as: Bool.self)
    guard let isOurs else { return false }
    guard isOurs else {
      throw StoreError(
        .conflict, "table quake.quake has a column \"geom\" that is not Quake's",
        hint: "Rename the column, or use it instead.")
    }
    return true
  }

  /// The schema of the extension, which is created in `public` if the server has it and the database has not.
  private static func extensionSchema(_ connection: Connection) throws -> String {
    let schema = try connection.firstRow(
      """
      select n.nspname
        from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'postgis'
      """, as: String.self)
    if let schema { return schema }
    guard
      try connection.row(
        "select exists (select from pg_available_extensions where name = 'postgis')", as: Bool.self)
    else {
      throw StoreError(
        .conflict, "the server has no PostGIS",
        hint: """
          Install it on the server's machine: Debian's package is postgresql-N-postgis-3, where N is the \
          server's major version.
          """)
    }
    try connection.execute("create extension postgis with schema public")
    return "public"
  }

  private static let view = SQL(
    trusted: """
      comment on column quake.quake.geom is '\(mark): the epicentre (EPSG:4326)';
      create index quake_geom on quake.quake using gist (geom);
      create view quake.quake_point as
        select q.code, q.geom, q.magnitude, q.magnitude_type, q.depth, q.place, q.time, q.updated, q.type,
               q.status, q.net, q.source, q.alert, q.tsunami, q.felt, q.sig, q.title, q.url
          from quake.quake q
         where q.superseded_by is null and q.withdrawn_at is null and q.geom is not null;
      comment on view quake.quake_point is 'the events that are neither superseded nor withdrawn, as points; made by quake-admin postgis enable'
      """)

  /// Gives the view to the owner of the table, who may then grant it and drop it with the table.
  private static func giveToOwner(_ connection: Connection) throws {
    let owner = try connection.firstRow(
      """
      select pg_get_userbyid(c.relowner)
        from pg_class c join pg_class v on v.oid = 'quake.quake_point'::regclass
       where c.oid = 'quake.quake'::regclass and c.relowner <> v.relowner
      """, as: String.self)
    guard let owner else { return }
    try connection.execute("alter view quake.quake_point owner to \(identifier: owner)")
  }

  /// Roles that may read the list of events may read the view.
  private static let grants: SQL = """
    do $$
    declare
      reader text;
    begin
      for reader in
        select case when g.grantee = 0 then 'public' else quote_ident(pg_get_userbyid(g.grantee)) end
          from pg_class c cross join aclexplode(c.relacl) g
         where c.oid = 'quake.current_quake'::regclass and g.privilege_type = 'SELECT'
           and g.grantee <> c.relowner
      loop
        execute 'grant select on quake.quake_point to ' || reader;
      end loop;
    end
    $$
    """
}
