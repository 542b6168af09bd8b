import Postgres
import QuakeFormat
import QuakeHistory
import QuakeModel
import QuakeQuery

/// The FDSN event web service 1.2, as USGS's service behaves.
struct FDSNService {
  /// The version of the service: that of the specification, and a number of our own.
  static let version = "1.2.0"
  static let path = "/fdsnws/event/1"

  var routes: [Route] {
    [
      route("", "fdsnUsage", "How to use the event service", .immediate(Self.usage)),
      route("/", "fdsnUsageIndex", "How to use the event service", .immediate(Self.usage)),
      route(
        "/query", "fdsnQuery", "Events as QuakeML, GeoJSON, CSV, KML or text", .query(Self.query),
        parameters: FDSNParameter.all, caching: .untilChange),
      route(
        "/query.{format}", "fdsnQueryFormat", "Events in the format that the path names",
        .query(Self.query), parameters: FDSNParameter.all, caching: .untilChange, hasFormat: true),
      route(
        "/count", "fdsnCount", "How many events a query matches", .query(Self.count),
        parameters: FDSNParameter.all, caching: .untilChange),
      route(
        "/version", "fdsnVersion", "The version of the service",
        .immediate { _ in .text(Self.version, type: "text/plain") }),
      route(
        "/application.wadl", "fdsnWADL", "The description of the service for programs",
        .immediate { request in
          .text(WADLDocument.text(baseURL: request.baseURL), type: "application/xml")
        }),
      route(
        "/application.json", "fdsnLists", "The catalogues, contributors and types that there are",
        .query { _, context in
          let lists = try CatalogueLists.all(over: context.connection)
          return Response(body: .document(Document(lists, contentType: "application/json")))
        }, caching: .untilChange),
      route(
        "/catalogs", "fdsnCatalogs", "The catalogues",
        .query { _, context in
          try Self.list("Catalog", CatalogueLists.catalogs(over: context.connection))
        }, caching: .untilChange),
      route(
        "/contributors", "fdsnContributors", "The contributors",
        .query { _, context in
          try Self.list("Contributor", CatalogueLists.contributors(over: context.connection))
        }, caching: .untilChange),
    ]
  }

  private func route(
    _ path: String, _ id: String, _ summary: String, _ handler: Handler,
    parameters: [FDSNParameter] = [], caching: Caching = .none, hasFormat: Bool = false
  ) -> Route {
    var described = parameters.filter {
      Self.independent.contains($0.name) && (!hasFormat || $0.name != "format")
    }.map(\.description)
    if hasFormat {
      described.append(
        Operation.Parameter(
          "format", .choice(FDSNFormat.allCases.map(\.rawValue)), "the format of the answer",
          in: .path))
    }
    var answers = [Operation.Answer(200, "The answer", Self.mediaTypes[id] ?? [])]
    if !parameters.isEmpty {
      answers += [
        Operation.Answer(204, "Nothing was found"),
        Operation.Answer(400, "A parameter is not valid", ["text/plain"]),
        Operation.Answer(404, "There is no event with this id", ["text/plain"]),
        Operation.Answer(409, "The event with this id has been deleted", ["text/plain"]),
        Operation.Answer(501, "A parameter is not supported", ["text/plain"]),
      ]
    }
    return Route(
      method: .get, path: Self.path + path,
      operation: Operation(
        id, summary, tag: "FDSN event service",
        description: parameters.isEmpty
          ? nil
          : "All parameters, with those that depend on each other: \(Self.path)/application.wadl.",
        parameters: described, answers: answers),
      errors: .fdsn, caching: caching, handler: handler)
  }

  /// The parameters whose values are valid whatever the other parameters are. OpenAPI cannot state how the rest
  /// depend on each other; the WADL lists all parameters.
  private static let independent: Set<String> = [
    "starttime", "minmagnitude", "mindepth", "minmmi", "mincdi", "minfelt", "alertlevel", "minsig",
    "mingap", "reviewstatus", "limit", "orderby", "format", "nodata",
  ]

  private static let documents = [
    "application/xml", "application/json", "text/csv", "text/plain",
    "application/vnd.google-earth.kml+xml",
  ]
  private static let mediaTypes = [
    "fdsnUsage": ["text/plain"], "fdsnUsageIndex": ["text/plain"], "fdsnVersion": ["text/plain"],
    "fdsnQuery": documents, "fdsnQueryFormat": documents,
    "fdsnCount": ["text/plain", "application/json", "application/xml"],
    "fdsnWADL": ["application/xml"], "fdsnLists": ["application/json"],
    "fdsnCatalogs": ["application/xml"], "fdsnContributors": ["application/xml"],
  ]

  // MARK: - Query

  private static func query(_ request: Request, _ context: QueryContext) throws -> Response {
    var format: FDSNFormat?
    if let name = request.parameters["format"] {
      format = FDSNFormat(rawValue: name)
      if format == nil {
        throw FDSNValue.unknown("format", name, of: FDSNFormat.allCases.map(\.rawValue))
      }
    }
    let query = try FDSNQuery(request.query, format: format)
    let answer = FDSNAnswer(query, request, over: context.connection)
    // One snapshot for the count and the events.
    return try context.connection.atOneMoment { try answer.response() }
  }

  // MARK: - Count

  private static func count(_ request: Request, _ context: QueryContext) throws -> Response {
    let query = try FDSNQuery(request.query)
    let answer = FDSNAnswer(query, request, over: context.connection)
    let count = try context.connection.atOneMoment { try answer.count() }
    let most = FDSNQuery.mostEvents
    let error =
      count > most
      ? """
      \(count) matching events exceeds search limit of \(most). A query using these search parameters would \
      fail. Modify the search to match fewer events.
      """ : nil
    switch query.format {
    case .geojson:
      var json = JSONWriter()
      json.object { json in
        json.member("count", count)
        json.member("maxAllowed", most)
        if let error {
          json.member("error", error)
        }
      }
      let document = Document(json.take(), contentType: "application/json")
      return answer.fresh(Response(body: .document(document)))
    case .xml:
      let problem = error.map { "<error>\($0)</error>" } ?? ""
      return answer.fresh(
        .text(
          "<query><count>\(count)</count><maxAllowed>\(most)</maxAllowed>\(problem)</query>",
          type: "application/xml"))
    default: return answer.fresh(.text("\(count)", type: "text/plain"))
    }
  }

  // MARK: - Descriptions

  private static func list(_ element: String, _ values: [String]) -> Response {
    var out = TextWriter()
    out.text("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<\(element)s>")
    for value in values {
      out.text("<\(element)>")
      out.xml(value)
      out.text("</\(element)>")
    }
    out.text("</\(element)s>\n")
    var bytes: [UInt8] = []
    out.withBytes { bytes += $0 }
    return Response(body: .document(Document(bytes, contentType: "application/xml")))
  }

  private static func usage(_ request: Request) -> Response {
    var lines = [
      "FDSN event web service \(version)", "",
      "\(request.baseURL)\(path)/query?PARAMETER=VALUE&...    the events",
      "\(request.baseURL)\(path)/count?PARAMETER=VALUE&...    their number",
      "\(request.baseURL)\(path)/version, application.wadl, application.json, catalogs, contributors",
      "", "Parameters:",
    ]
    for parameter in FDSNParameter.all {
      let names = ([parameter.name] + parameter.aliases).joined(separator: ", ")
      let choices =
        parameter.choices.isEmpty ? "" : " (" + parameter.choices.joined(separator: ", ") + ")"
      lines.append("  \(names): \(parameter.summary)\(choices)")
    }
    lines += [
      "",
      "Times are in ISO 8601, in UTC unless they name a zone. A query that matches more than "
        + "\(FDSNQuery.mostEvents) events needs a limit.", "",
    ]
    return .text(lines.joined(separator: "\n"))
  }
}

extension FDSNParameter {
  /// The description for OpenAPI.
  var description: Operation.Parameter {
    let schema: Operation.Schema =
      switch kind {
      // An empty value is ignored.
      case _ where !choices.isEmpty: .choice(choices + [""])
      case .time: .string(pattern: "^(\(APIParameters.time))?$")
      case .double: .number(range)
      case .integer:
        // One that is too large is the largest.
        .integer(
          from: (range?.lowerBound).map { Int($0) },
          to: (range?.upperBound).flatMap { Int(exactly: $0) })
      case .boolean: .boolean
      case .string where name == "includedeleted": .choice(["true", "false", "only"])
      case .string: .string()
      }
    var described = Operation.Parameter(name, schema, summary)
    described.mayBeEmpty = true
    return described
  }
}

/// The description of the event service in WADL. ObsPy reads it, and offers only what it lists.
enum WADLDocument {
  static func text(baseURL: String) -> String {
    // The address was checked: it has no character that XML reserves.
    var lines = [
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <application xmlns="http://wadl.dev.java.net/2009/02" xmlns:q="http://quakeml.org/xmlns/quakeml/1.2" \
      xmlns:xs="http://www.w3.org/2001/XMLSchema">
      <resources base="\(baseURL)\(FDSNService.path)/">
      """
    ]
    for (path, type) in [
      ("version", "text/plain"), ("catalogs", "application/xml"),
      ("contributors", "application/xml"),
      ("application.wadl", "application/xml"), ("application.json", "application/json"),
    ] {
      lines += [
        "<resource path=\"\(path)\"><method id=\"\(path)\" name=\"GET\"><response status=\"200\">"
          + "<representation mediaType=\"\(type)\"/></response></method></resource>"
      ]
    }
    for path in ["query", "count"] {
      lines.append("<resource path=\"\(path)\"><method id=\"\(path)\" name=\"GET\"><request>")
      lines += FDSNParameter.all.map(\.wadl)
      lines += ["</request>", path == "query" ? answers : countAnswers, "</method></resource>"]
    }
    return (lines + ["</resources>", "</application>", ""]).joined(separator: "\n")
  }

  private static let answers = """
    <response status="200">
    <representation mediaType="application/xml" element="q:quakeml"/>
    <representation mediaType="application/json"/>
    <representation mediaType="text/csv"/>
    <representation mediaType="text/plain"/>
    <representation mediaType="application/vnd.google-earth.kml+xml"/>
    </response>
    <response status="204 400 404 409 413 501 503">
    <representation mediaType="text/plain"/>
    </response>
    """

  private static let countAnswers = """
    <response status="200">
    <representation mediaType="text/plain"/>
    <representation mediaType="application/json"/>
    <representation mediaType="application/xml"/>
    </response>
    """
}

extension FDSNParameter {
  fileprivate var wadl: String {
    let preset = preset.map { " default=\"\($0)\"" } ?? ""
    let start = "<param name=\"\(name)\" style=\"query\" type=\"\(kind.rawValue)\"\(preset)"
    guard !choices.isEmpty else { return start + "/>" }
    return start + ">" + choices.map { "<option value=\"\($0)\"/>" }.joined() + "</param>"
  }
}

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
