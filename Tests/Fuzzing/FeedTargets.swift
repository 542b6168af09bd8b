import Basics
import QuakeFormat
import QuakeModel

@testable import QuakeFeed

/// What a feed may contain, in each format that is read, and compressed bodies.
enum FeedTargets {
  static let all: [FuzzTarget] = [
    feed("json", words: jsonWords, [sample(.geojson)] + FeedSamples.json),
    feed(
      "ndjson", words: jsonWords + EventColumn.allCases.map(\.name),
      [sample(.ndjson)] + FeedSamples.lines),
    feed("csv", words: csvWords, [sample(.csv)] + FeedSamples.csv),
    feed("fdsn-text", words: textWords, [sample(.fdsnText)] + FeedSamples.text),
    feed("xml", words: xmlWords, [sample(.quakeml)] + FeedSamples.xml),
    FuzzTarget(name: "compressed", longest: 2048, seeds: compressedSeeds, check: checkCompressed),
  ]

  /// The endings of files that real feeds of a target have.
  static let endings: [String: [String]] = [
    "json": [".geojson", ".json"], "ndjson": [".ndjson", ".jsonl"], "csv": [".csv"],
    "fdsn-text": [".txt", ".text"], "xml": [".xml", ".quakeml", ".sc3ml", ".scml"],
    "compressed": [".gz", ".zst"],
  ]

  private static func feed(_ name: String, words: [String], _ seeds: [String]) -> FuzzTarget {
    FuzzTarget(
      name: name, longest: 4096, words: words, seeds: { seeds.map { Array($0.utf8) } },
      check: FeedReading.check)
  }

  private static func sample(_ format: ExportFormat) -> String {
    String(decoding: FeedReading.document(format, FeedSamples.events), as: UTF8.self)
  }

  private static let jsonWords =
    [FeedFormat.usgsGeoJSON, .emscJSON, .geonetJSON].flatMap(\.properties).map { "\"\($0.name)\":" }
    + [
      "\"type\":", "\"FeatureCollection\"", "\"Feature\"", "\"features\":[", "\"geometry\":{",
      "\"coordinates\":[", "\"properties\":{", "\"metadata\":{", "\"generated\":", "\"id\":",
      "null", "true", "1e308", "-0.0", "9007199254740993", "18446744073709551615", "\\u0000",
      "\\ud83c\\udf0b", "\"bbox\":[", "},{", "]}", "\"status\":", "\"error\":", "\"count\":",
    ]
  private static let csvWords = [
    "time", "latitude", "longitude", "depth", "mag", "magType", "net", "id", "updated", "place",
    "type", "\"\"", ",\"", "\",", "\r\n", "2026-01-31T12:00:00.000Z", "earthquake", "reviewed",
  ]
  private static let textWords = [
    "#EventID|Time|Latitude|Longitude|Depth/km|Author|Catalog|Contributor|ContributorID|MagType|",
    "Magnitude|MagAuthor|EventLocationName", "|EventType", "smi:", "quakeml:", "/", "local",
    "2026-01-31T12:00:00.000", "\r\n", "||", "Longtitude",
  ]
  private static let xmlWords = [
    "<q:quakeml", "xmlns=\"http://quakeml.org/xmlns/bed/1.2\"", "<eventParameters>", "<event ",
    "publicID=\"smi:a/b\"", "<origin>", "<time><value>", "</value></time>", "<magnitude>", "<mag>",
    "<value>", "<description>", "<text>", "<preferredOriginID>", "<preferredMagnitudeID>",
    "<originReference>", "<creationInfo>", "<agencyID>", "<creationTime>", "<evaluationMode>",
    "<evaluationStatus>", "<quality>", "<usedStationCount>", "<![CDATA[", "]]>", "<!--", "-->",
    "&amp;", "&#x41;", "<!DOCTYPE", "<seiscomp", "<EventParameters>", "<stationCount>", "<?xml ",
    "encoding=\"UTF-16\"", "encoding=\"ISO-8859-1\"", "catalog:eventid=", "<type>", "</event>",
  ]

  // MARK: - Compressed bodies

  @Sendable private static func compressedSeeds() -> [[UInt8]] {
    let plain = Array(sample(.csv).utf8)
    return CompressedForm.allCases.flatMap { form in
      let bytes = compressed(plain, form)
      return [bytes, bytes + bytes, Array(bytes.dropLast(9)), bytes + [0]]
    } + [[], [0x1F], [0x1F, 0x8B], Array("plain".utf8)] + splitFaults
  }

  private static let splitFaults: [[UInt8]] = {
    let frame: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x50, 0x04, 0xD3, 0x86, 0x01, 0x00, 0x00]
    return [frame + frame, frame + frame + frame.dropLast() + [0x6D]]
  }()

  private static func compressed(_ bytes: [UInt8], _ form: CompressedForm) -> [UInt8] {
    let compressor = form.makeCompressor()
    var result: [UInt8] = []
    do {
      try bytes.withUnsafeBytes { try compressor.compress($0) { result.append(contentsOf: $0) } }
      try compressor.finish { result.append(contentsOf: $0) }
    } catch {
      fatalError("the closures throw nothing")
    }
    return result
  }

  /// The most bytes of a body that are examined.
  private static let examined = 256 << 10

  /// The bytes of a body, as many as are examined, and the error that ends it.
  private static func decompressed(
    _ bytes: [UInt8], inPieces: Bool
  ) -> (bytes: [UInt8], error: FeedError.Code?) {
    let source = DecompressingSource(PieceSource(bytes, inPieces: inPieces), name: "input")
    var result: [UInt8] = []
    var part = [UInt8](repeating: 0, count: inPieces ? 1021 : 64 << 10)
    do throws(FeedError) {
      while result.count < examined {
        var count = 0
        var failure: FeedError?
        part.withUnsafeMutableBytes { buffer in
          do throws(FeedError) { count = try source.read(into: buffer) } catch { failure = error }
        }
        if let failure { throw failure }
        guard count > 0 else { return (result, nil) }
        result += part[..<count]
      }
      return (Array(result.prefix(examined)), nil)
    } catch {
      return (result, error.code)
    }
  }

  @Sendable private static func checkCompressed(_ bytes: [UInt8]) {
    let whole = decompressed(bytes, inPieces: false)
    let pieces = decompressed(bytes, inPieces: true)
    // Beyond what is examined, one of them may have seen more than the other.
    let isWhole = max(whole.bytes.count, pieces.bytes.count) < examined
    // In pieces, zstd waits for more of a damaged block, and does not compare the size that a frame declares if the frame
    // ends with an empty block.
    let damage: Set<FeedError.Code?> = [.corruptZstd, .truncatedZstd, nil]
    require(
      whole.error == pieces.error || damage.isSuperset(of: [whole.error, pieces.error]) || !isWhole,
      "in pieces: \(pieces.error as Any), \(whole.error as Any)")
    if whole.error == nil, pieces.error == nil {
      require(whole.bytes == pieces.bytes, "in pieces the bytes are the same")
    } else {
      // zlib hands over what it has got before it finds the fault, which depends on the space that it has.
      require(
        whole.bytes.starts(with: pieces.bytes) || pieces.bytes.starts(with: whole.bytes),
        "in pieces the bytes begin the same")
    }
    for form in CompressedForm.allCases {
      let again = decompressed(compressed(bytes, form), inPieces: true)
      require(again.error == nil && again.bytes == bytes, "\(form): what is compressed comes back")
    }
  }
}
