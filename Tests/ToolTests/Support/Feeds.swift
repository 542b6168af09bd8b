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
    collection(
      (first..<(first + count)).map { feature("us\($0)", magnitude: magnitude) },
      generated: generated)
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

  /// The number of events in a file, counted without the tools' code.
  static func eventCount(_ path: String) throws -> Int {
    let data = try Data(contentsOf: URL(fileURLWithPath: path))
    if path.hasSuffix(".csv") { return csvRecords(data).count }
    let root = try JSONSerialization.jsonObject(with: data) as? [String: Any]
    guard let features = root?["features"] as? [Any] else { return 1 }
    return features.count
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
