import QuakeFormat
import QuakeModel

/// A parameter of the event service: its names, type and meaning. The table is the one source of what a query
/// may have, the WADL, the usage page and the OpenAPI document.
struct FDSNParameter: Sendable {
  /// The type in the WADL. ObsPy knows these only.
  enum Kind: String, Sendable {
    case time = "xs:dateTime"
    case double = "xs:double"
    case integer = "xs:int"
    case boolean = "xs:boolean"
    case string = "xs:string"
  }

  let name: String
  /// Short names with the same meaning.
  let aliases: [String]
  let kind: Kind
  /// The only values, if there are few.
  let choices: [String]
  /// The values of a number, both ends included.
  let range: ClosedRange<Double>?
  let preset: String?
  let summary: String

  init(
    _ name: String, _ kind: Kind, _ summary: String, aliases: [String] = [],
    of choices: [String] = [],
    in range: ClosedRange<Double>? = nil, default preset: String? = nil
  ) {
    self.name = name
    self.aliases = aliases
    self.kind = kind
    self.choices = choices
    self.range = range
    self.preset = preset
    self.summary = summary
  }

  static let all = times + places + sizes + origins + output

  /// The parameter of a name or an alias.
  static func named(_ name: String) -> FDSNParameter? { byName[name] }

  private static let byName: [String: FDSNParameter] = {
    var names: [String: FDSNParameter] = [:]
    for parameter in all {
      for name in [parameter.name] + parameter.aliases { names[name] = parameter }
    }
    return names
  }()

  private static let latitudes = -90.0...90.0
  /// Boxes over the 180th meridian have an edge beyond it.
  private static let longitudes = -360.0...360.0
  private static let intensities = 0.0...12.0
  private static let positive = 0.0...Double.greatestFiniteMagnitude

  private static let times = [
    FDSNParameter(
      "starttime", .time, "events at or after this time; by default the last 30 days",
      aliases: ["start"]),
    FDSNParameter("endtime", .time, "events up to this time", aliases: ["end"]),
    FDSNParameter("updatedafter", .time, "events that changed in the store at this time or later"),
  ]

  private static let places = [
    FDSNParameter(
      "minlatitude", .double, "the southern edge, degrees", aliases: ["minlat"], in: latitudes,
      default: "-90"),
    FDSNParameter(
      "maxlatitude", .double, "the northern edge, degrees", aliases: ["maxlat"], in: latitudes,
      default: "90"),
    FDSNParameter(
      "minlongitude", .double,
      "the western edge, degrees; -190 or 170 begin a box over the 180th meridian",
      aliases: ["minlon"], in: longitudes, default: "-180"),
    FDSNParameter(
      "maxlongitude", .double, "the eastern edge, degrees", aliases: ["maxlon"], in: longitudes,
      default: "180"),
    FDSNParameter(
      "latitude", .double, "the centre of a circle, degrees", aliases: ["lat"], in: latitudes),
    FDSNParameter(
      "longitude", .double, "the centre of a circle, degrees", aliases: ["lon"], in: -180...180),
    FDSNParameter(
      "minradius", .double, "the least distance from the centre, degrees", in: 0...180, default: "0"
    ),
    FDSNParameter(
      "maxradius", .double, "the greatest distance from the centre, degrees", in: 0...180),
    FDSNParameter(
      "minradiuskm", .double, "the least distance from the centre, kilometres", in: 0...20_001.6),
    FDSNParameter(
      "maxradiuskm", .double, "the greatest distance from the centre, kilometres", in: 0...20_001.6),
    FDSNParameter("mindepth", .double, "the least depth, kilometres"),
    FDSNParameter("maxdepth", .double, "the greatest depth, kilometres"),
  ]

  private static let sizes = [
    FDSNParameter("minmagnitude", .double, "the least magnitude", aliases: ["minmag"]),
    FDSNParameter("maxmagnitude", .double, "the greatest magnitude", aliases: ["maxmag"]),
    FDSNParameter(
      "magnitudetype", .string, "the type of the magnitude, such as mww", aliases: ["magtype"]),
    FDSNParameter("minmmi", .double, "the least estimated intensity", in: intensities),
    FDSNParameter("maxmmi", .double, "the greatest estimated intensity", in: intensities),
    FDSNParameter("mincdi", .double, "the least reported intensity", in: intensities),
    FDSNParameter("maxcdi", .double, "the greatest reported intensity", in: intensities),
    FDSNParameter("minfelt", .integer, "the least number of felt reports", in: positive),
    FDSNParameter(
      "alertlevel", .string, "the PAGER alert level", of: ["green", "yellow", "orange", "red"]),
    FDSNParameter("minsig", .integer, "the least significance", in: positive),
    FDSNParameter("maxsig", .integer, "the greatest significance", in: positive),
    FDSNParameter("mingap", .double, "the least azimuthal gap, degrees", in: 0...360),
    FDSNParameter("maxgap", .double, "the greatest azimuthal gap, degrees", in: 0...360),
  ]

  private static let origins = [
    FDSNParameter(
      "eventid", .string, "the event with this id, also a former one; other filters are ignored"),
    FDSNParameter("eventtype", .string, "the types of the events, with commas between them"),
    FDSNParameter(
      "reviewstatus", .string, "how far the event is reviewed", of: ["automatic", "reviewed"]),
    FDSNParameter("catalog", .string, "events in this catalogue; /catalogs lists them"),
    FDSNParameter("contributor", .string, "events of this contributor; /contributors lists them"),
    FDSNParameter("producttype", .string, "events with a product of this type, such as shakemap"),
    FDSNParameter("productcode", .string, "the event that has a product with this code"),
    FDSNParameter(
      "includedeleted", .string, "whether to include deleted events: true, false, or only",
      default: "false"),
    FDSNParameter(
      "includesuperseded", .boolean, "with eventid: whether to include superseded versions",
      default: "false"),
    FDSNParameter(
      "includeallorigins", .boolean, "accepted; an event has one origin here", default: "false"),
    FDSNParameter(
      "includeallmagnitudes", .boolean, "accepted; an event has one magnitude here",
      default: "false"),
    FDSNParameter(
      "includearrivals", .boolean, "only false: there are no arrivals", default: "false"),
  ]

  private static let output = [
    FDSNParameter(
      "format", .string, "the format of the answer", of: FDSNFormat.allCases.map(\.rawValue),
      default: "quakeml"),
    FDSNParameter("limit", .integer, "the most events", in: 0...20_000),
    FDSNParameter(
      "offset", .integer, "the first event of the answer, from 1", in: 1...positive.upperBound,
      default: "1"),
    FDSNParameter(
      "orderby", .string, "the order", of: ["time", "time-asc", "magnitude", "magnitude-asc"],
      default: "time"),
    FDSNParameter(
      "nodata", .integer, "the status if nothing is found", of: ["204", "404"], default: "204"),
    FDSNParameter(
      "jsonerror", .string, "true: an error is a GeoJSON document with status 200", default: "false"
    ),
  ]
}

/// A value of a parameter, as the client sent it. Its errors are the sentences of USGS's service.
struct FDSNValue {
  let parameter: FDSNParameter
  /// The name that the client used.
  let name: String
  let text: String

  private func bad(_ valid: String) -> HTTPError {
    HTTPError(400, "Bad \(name) value \"\(text)\". Valid values are \(valid)")
  }

  /// An instant in ISO 8601, UTC if it names no zone.
  func time() throws(HTTPError) -> Timestamp {
    // A plus sign that the client did not encode has become a space.
    let mark = text.lastIndex(of: " ")
    if let mark, text.distance(from: text.startIndex, to: mark) > 10 {
      let zoned = text[..<mark] + "+" + text[text.index(after: mark)...]
      if let time = Timestamp(iso8601: String(zoned)) { return time }
    }
    guard let time = Timestamp(iso8601: text) else { throw bad("ISO-8601 timestamps.") }
    return time
  }

  func double() throws(HTTPError) -> Double {
    let isDecimal = text.utf8.allSatisfy {
      (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0)
    }
    guard isDecimal, let number = Double(text), number.isFinite, isInRange(number) else {
      throw bad(parameter.range == nil ? "numeric" : rangeText)
    }
    return number
  }

  /// An integer that is not negative; one that is too large is the largest.
  func integer() throws(HTTPError) -> Int {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      throw bad(parameter.range == nil ? "integers" : rangeText)
    }
    let number = Int(text) ?? .max
    guard isInRange(Double(number)) else { throw bad(rangeText) }
    return number
  }

  func boolean() throws(HTTPError) -> Bool {
    switch text.lowercased() {
    case "true": return true
    case "false": return false
    default:
      throw HTTPError(
        400,
        "Bad \(name) value \"\(text)\". Valid values are (case insensitive): \"TRUE\", \"FALSE\".")
    }
  }

  func choice() throws(HTTPError) -> String {
    guard parameter.choices.contains(text) else {
      throw Self.unknown(name, text, of: parameter.choices)
    }
    return text
  }

  /// The error for a text that is not one of those that are known.
  static func unknown(_ name: String, _ text: String, of choices: [String]) -> HTTPError {
    let list = choices.map { "\"\($0)\"" }.joined(separator: ", ")
    return HTTPError(400, "Bad \(name) value \"\(text)\". Valid values are: \(list).")
  }

  private func isInRange(_ number: Double) -> Bool { parameter.range?.contains(number) ?? true }

  private var rangeText: String {
    guard let range = parameter.range else { return "numeric" }
    func shown(_ number: Double) -> String {
      number == number.rounded() ? "\(Int(number))" : "\(number)"
    }
    let most = range.upperBound < 1e9 ? " <= \(shown(range.upperBound))" : ""
    return "\(shown(range.lowerBound)) <= \(name)\(most)"
  }
}

/// The values of the parameter `format`.
enum FDSNFormat: String, Sendable, CaseIterable {
  case quakeml
  case xml
  case geojson
  case csv
  case kml
  case text

  var export: ExportFormat {
    switch self {
    case .quakeml, .xml: .quakeml
    case .geojson: .geojson
    case .csv: .csv
    case .kml: .kml
    case .text: .fdsnText
    }
  }

  var isQuakeML: Bool { export == .quakeml }
}
