import QuakeModel

extension FeedFormat {
  /// The members of a feature's `properties` that are read, in their usual order.
  var properties: [PropertyTable.Entry] {
    switch self {
    case .usgsGeoJSON:
      [
        .init("mag", .magnitude, .number),
        .init("place", .place, .text),
        .init("time", .time, .milliseconds),
        .init("updated", .updated, .milliseconds),
        .init("url", .url, .text),
        .init("detail", .detail, .text),
        .init("felt", .felt, .integer),
        .init("cdi", .cdi, .number),
        .init("mmi", .mmi, .number),
        .init("alert", .alert, .text),
        .init("status", .status, .text),
        .init("tsunami", .tsunami, .integer),
        .init("sig", .sig, .integer),
        .init("net", .net, .text),
        .init("code", .netCode, .text),
        .init("ids", .ids, .text),
        .init("sources", .sources, .text),
        .init("types", .types, .text),
        .init("nst", .nst, .integer),
        .init("dmin", .dmin, .number),
        .init("rms", .rms, .number),
        .init("gap", .gap, .number),
        .init("magType", .magnitudeType, .text),
        .init("type", .type, .text),
        .init("title", .title, .text),
        // An export has it where the id does not tell the catalogue.
        .init("quake:source", .source, .text),
      ]
    case .emscJSON:
      [
        .init("lastupdate", .updated, .iso8601),
        .init("time", .time, .iso8601),
        .init("flynn_region", .place, .text),
        .init("depth", .depth, .number),
        .init("evtype", .type, .emscEventType),
        .init("auth", .net, .text),
        .init("mag", .magnitude, .number),
        .init("magtype", .magnitudeType, .text),
        .init("unid", .netCode, .identifier),
      ]
    case .geonetJSON:
      [
        .init("publicID", .netCode, .identifier),
        .init("time", .time, .iso8601),
        .init("depth", .depth, .number),
        .init("magnitude", .magnitude, .number),
        .init("mmi", .mmi, .number),
        .init("locality", .place, .text),
        .init("quality", .status, .text),
      ]
    case .ndjson:
      [
        .init("code", .code, .text),
        .init("net", .net, .text),
        .init("net_code", .netCode, .text),
        .init("source", .source, .text),
        .init("type", .type, .text),
        .init("status", .status, .text),
        .init("magnitude", .magnitude, .number),
        .init("magnitude_type", .magnitudeType, .text),
        .init("place", .place, .text),
        .init("time", .time, .iso8601),
        .init("updated", .updated, .iso8601),
        .init("longitude", .longitude, .number),
        .init("latitude", .latitude, .number),
        .init("depth", .depth, .number),
        .init("title", .title, .text),
        .init("url", .url, .text),
        .init("detail", .detail, .text),
        .init("felt", .felt, .integer),
        .init("cdi", .cdi, .number),
        .init("mmi", .mmi, .number),
        .init("alert", .alert, .text),
        .init("tsunami", .tsunami, .integer),
        .init("sig", .sig, .integer),
        .init("nst", .nst, .integer),
        .init("dmin", .dmin, .number),
        .init("rms", .rms, .number),
        .init("gap", .gap, .number),
        .init("ids", .ids, .text),
        .init("sources", .sources, .text),
        .init("types", .types, .text),
      ]
    case .usgsCSV, .fdsnText, .quakeML, .seisComP: []
    }
  }

  /// The columns that a GeoJSON feature of this format can fill.
  var featureColumns: [QuakeColumn] {
    let always: Set<QuakeColumn> = [.code, .source, .longitude, .latitude, .depth]
    let carried = always.union(properties.map(\.column))
    return QuakeColumn.feed.filter(carried.contains)
  }
}
