/// The columns of `quake.quake`, in the order of the table: the one list that defines the decoders, the
/// binary COPY, the merge statement, the history reader and the JSON output.
///
/// A test compares it with the database's catalogue.
public enum EventColumn: Int, CaseIterable, Sendable {
  case code, net, netCode, source, type, status
  case magnitude, magnitudeType, place, time, updated
  case longitude, latitude, depth
  case title, url, detail
  case felt, cdi, mmi, alert, tsunami, sig
  case nst, dmin, rms, gap
  case ids, sources, types
  case asOf, validated, withdrawnAt, supersededBy
  case firstStored

  /// How a value of the column is stored, here and in PostgreSQL.
  public enum Kind: Sendable {
    /// UTF-8 text without NUL (`text`).
    case text
    /// An IEEE 754 double (`double precision`).
    case float8
    /// A 32-bit integer (`integer`).
    case int4
    /// A 16-bit integer (`smallint`).
    case int2
    /// An instant with microsecond resolution (`timestamp with time zone`).
    case timestamp
    /// True or false (`boolean`).
    case bool

    /// The name of the type in PostgreSQL.
    public var sqlName: String {
      switch self {
      case .text: "text"
      case .float8: "double precision"
      case .int4: "integer"
      case .int2: "smallint"
      case .timestamp: "timestamptz"
      case .bool: "boolean"
      }
    }
  }

  /// The column's name in SQL and in JSON, for writers and readers of JSON.
  package var key: StaticString {
    switch self {
    case .code: "code"
    case .net: "net"
    case .netCode: "net_code"
    case .source: "source"
    case .type: "type"
    case .status: "status"
    case .magnitude: "magnitude"
    case .magnitudeType: "magnitude_type"
    case .place: "place"
    case .time: "time"
    case .updated: "updated"
    case .longitude: "longitude"
    case .latitude: "latitude"
    case .depth: "depth"
    case .title: "title"
    case .url: "url"
    case .detail: "detail"
    case .felt: "felt"
    case .cdi: "cdi"
    case .mmi: "mmi"
    case .alert: "alert"
    case .tsunami: "tsunami"
    case .sig: "sig"
    case .nst: "nst"
    case .dmin: "dmin"
    case .rms: "rms"
    case .gap: "gap"
    case .ids: "ids"
    case .sources: "sources"
    case .types: "types"
    case .asOf: "as_of"
    case .validated: "validated"
    case .withdrawnAt: "withdrawn_at"
    case .supersededBy: "superseded_by"
    case .firstStored: "first_stored"
    }
  }

  /// The column's name in SQL and in JSON.
  public var name: String { "\(key)" }

  /// How the column's values are stored.
  public var kind: Kind {
    switch self {
    case .magnitude, .longitude, .latitude, .depth, .cdi, .mmi, .dmin, .rms, .gap: .float8
    case .felt, .sig, .nst: .int4
    case .tsunami: .int2
    case .time, .updated, .asOf, .withdrawnAt, .firstStored: .timestamp
    case .validated: .bool
    default: .text
    }
  }

  /// The column called `name` in SQL and JSON, or nil.
  public init?(name: some StringProtocol) {
    guard let column = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = column
  }

  /// The columns that a feed can fill. The others are Quake's own state, which a feed never overwrites.
  public static let feed: [EventColumn] = allCases.filter {
    $0.rawValue < EventColumn.asOf.rawValue
  }
}

extension JSONWriter {
  /// Writes an event as an object with a member for each of these columns, null where it has no value.
  ///
  /// - Parameter drain: Called between values when many bytes have been written.
  public mutating func quake(
    _ record: EventRecord, columns: [EventColumn], others: [String] = [], drain: Drain
  ) rethrows {
    beginObject()
    for column in columns {
      member(column.key, of: column, in: record)
      if count >= Self.drainedSize { try drain(&self) }
    }
    if !others.isEmpty {
      member("others", others)
    }
    endObject()
  }
}
