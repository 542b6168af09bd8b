import Foundation
import TestSupport

/// Feeds for tests, generated and real.
enum Feeds {
  /// One event as USGS writes it. `changes` replaces or adds properties; values are JSON.
  static func feature(
    _ id: String, magnitude: String = "2.5", place: String = "10 km N of Nowhere",
    coordinates: String = "-117.5,35.7,8.1", time: Int = 1_700_000_000_000,
    changes: [String: String] = [:]
  ) -> String {
    var properties = [
      "mag": magnitude, "place": "\"\(place)\"", "time": "\(time)", "updated": "\(time + 60_000)",
      "url": "\"https://example.org/\(id)\"", "detail": "\"https://example.org/\(id).json\"",
      "status": "\"reviewed\"", "tsunami": "0", "sig": "96", "net": "\"\(id.prefix(2))\"",
      "code": "\"\(id.dropFirst(2))\"", "ids": "\",\(id),\"", "sources": "\",us,\"",
      "types": "\",origin,\"", "magType": "\"ml\"", "type": "\"earthquake\"",
      "title": "\"M \(magnitude) - \(place)\"",
    ]
    properties.merge(changes) { $1 }
    let text = properties.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }
      .joined(separator: ",")
    return """
      {"type":"Feature","properties":{\(text)},"geometry":{"type":"Point","coordinates":\
      [\(coordinates)]},"id":"\(id)"}
      """
  }

  /// A feed of events.
  static func collection(_ features: [String], generated: Int? = 1_700_000_100_000) -> String {
    let metadata =
      generated.map {
        "\"metadata\":{\"generated\":\($0),\"title\":\"Test\",\"status\":200,\"count\":\(features.count)},"
      } ?? ""
    return "{\"type\":\"FeatureCollection\",\(metadata)\"features\":["
      + features.joined(separator: ",\n") + "]}"
  }

  /// A feed of `count` different events.
  static func collection(
    count: Int, from first: Int = 1, magnitude: String = "2.5",
    generated: Int? = 1_700_000_100_000
  ) -> String {
    // An event is put together once, because tests are not optimised.
    let pieces = feature("us@", magnitude: magnitude).components(separatedBy: "@")
    return collection(
      (first..<(first + count)).map { pieces.joined(separator: "\($0)") }, generated: generated)
  }

  static let csvHeader =
    "time,latitude,longitude,depth,mag,magType,nst,gap,dmin,rms,net,id,updated,place,type,"
    + "horizontalError,depthError,magError,magNst,status,locationSource,magSource"

  /// A row of USGS's CSV.
  static func row(_ id: String, magnitude: String = "2.5") -> String {
    "2023-11-14T22:13:20.000Z,35.7,-117.5,8.1,\(magnitude),ml,,,,,us,\(id),"
      + "2023-11-14T22:14:20.000Z,\"10 km N of Nowhere, CA\",earthquake,,,,,reviewed,us,us"
  }

  // MARK: Real feeds

  /// The folder that `QUAKE_REAL_FEEDS` names, by default one beside the package.
  static let realFolder =
    ProcessInfo.processInfo.environment["QUAKE_REAL_FEEDS"] ?? Tools.package + "/../shared/feeds"

  static let hasReal = FileManager.default.fileExists(atPath: realFolder + "/usgs")

  /// Real files below `folder` with one of `endings`, sorted.
  static func real(_ folder: String, _ endings: [String]) throws -> [String] {
    let root = realFolder + "/" + folder
    return try FileManager.default.subpathsOfDirectory(atPath: root).filter { path in
      endings.contains { path.hasSuffix("." + $0) }
    }.sorted().map { root + "/" + $0 }
  }

  /// An event's id and network, empty where the file has none.
  struct Event {
    var id: String
    var net: String
  }

  private struct Document: Decodable {
    var features: [Feature]?
  }

  private struct Feature: Decodable {
    var id: String?
    var properties: Properties

    struct Properties: Decodable {
      var net: String?
    }
  }

  /// The events of a file of CSV or GeoJSON, read without the tools' code.
  static func events(_ path: String) throws -> [Event] {
    let data = try Data(contentsOf: URL(fileURLWithPath: path))
    if path.hasSuffix(".csv") {
      return csvRecords(data).map { record in
        // No field before the place has quotes.
        let fields = record.split(
          separator: ",", maxSplits: 12, omittingEmptySubsequences: false)
        guard fields.count == 13 else { return Event(id: "", net: "") }
        return Event(id: String(fields[11]), net: String(fields[10]))
      }
    }
    let decoder = JSONDecoder()
    let features =
      try decoder.decode(Document.self, from: data).features
      ?? [decoder.decode(Feature.self, from: data)]
    return features.map { Event(id: $0.id ?? "", net: $0.properties.net ?? "") }
  }

  private static func record(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
    String(decoding: bytes.last == 0x0D ? bytes.dropLast() : bytes, as: UTF8.self)
  }

  /// The rows after the header: a line feed ends one unless it is within quotes.
  static func csvRecords(_ data: Data) -> [String] {
    var records: [String] = []
    // With the functions of glibc, because tests are not optimised.
    data.withUnsafeBytes { bytes in
      func place(of byte: UInt8, in range: Range<Int>) -> Int? {
        guard let base = bytes.baseAddress, !range.isEmpty,
          let found = memchr(base + range.lowerBound, Int32(byte), range.count)
        else { return nil }
        return UnsafeRawPointer(found) - base
      }
      var begin = 0
      var end = 0
      var isQuoted = false
      while end < bytes.count {
        let lineEnd = place(of: 0x0A, in: end..<bytes.count) ?? bytes.count
        while let quote = place(of: UInt8(ascii: "\""), in: end..<lineEnd) {
          isQuoted.toggle()
          end = quote + 1
        }
        end = lineEnd + 1
        if !isQuoted {
          records.append(record(bytes[begin..<lineEnd]))
          begin = end
        }
      }
      if begin < bytes.count { records.append(record(bytes[begin...])) }
    }
    records.removeAll { $0.isEmpty }
    return Array(records.dropFirst())
  }
}
