import QuakeFormat
import QuakeModel

@testable import QuakeFeed

/// Bytes in memory as a source, in pieces.
struct PieceSource: ByteSource {
  final class Position {
    var offset = 0
    var pieces: Pieces

    init(_ pieces: Pieces) { self.pieces = pieces }
  }

  let bytes: [UInt8]
  let inPieces: Bool
  private let position: Position

  init(_ bytes: [UInt8], inPieces: Bool) {
    self.bytes = bytes
    self.inPieces = inPieces
    position = Position(Pieces(bytes))
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(FeedError) -> Int {
    require(!buffer.isEmpty, "a source is asked for at least one byte")
    let most = inPieces ? position.pieces.next() : .max
    let count = min(buffer.count, bytes.count - position.offset, most)
    buffer.copyBytes(from: bytes[position.offset..<position.offset + count])
    position.offset += count
    return count
  }
}

/// What is read from a feed.
struct FeedReading {
  var format: FeedFormat?
  var columns: [EventColumn] = []
  var inferred: Set<EventColumn> = []
  var records: [EventRecord] = []
  var rejects: [FeedReject] = []
  var metadata = FeedMetadata()
  var error: FeedError?

  /// Reads a feed as `FeedReader` does, but with a buffer of any size, so that short inputs move its window, too.
  init(
    _ bytes: [UInt8], inPieces: Bool = false, capacity: Int = 16 << 10,
    options: FeedReader.Options = FeedReader.Options()
  ) {
    do throws(FeedError) {
      let reader = try FeedReader(
        source: PieceSource(bytes, inPieces: inPieces), name: "input", options: options,
        capacity: capacity)
      format = reader.format
      defer {
        columns = reader.columns
        inferred = reader.inferredColumns
        metadata = reader.metadata
      }
      try readEvents(reader)
    } catch {
      self.error = error
    }
  }

  private mutating func readEvents(_ reader: FeedReader) throws(FeedError) {
    var record = EventRecord()
    while let item = try reader.next(into: &record) {
      switch item {
      case .record: records.append(record)
      case .reject(let reject):
        rejects.append(reject)
        require(
          reject.raw.utf8.count <= FeedReject.maximumRawBytes, "a reject keeps no more than it may")
      }
    }
  }
}

// MARK: - Properties

extension FeedReading {
  /// What must hold for the bytes of any feed.
  static func check(_ bytes: [UInt8]) {
    // Compressed bodies have a target of their own: in pieces, more of a damaged one is read before its error.
    guard !bytes.starts(with: GunzipSource.magic), !bytes.starts(with: ZstdSource.magic) else {
      return
    }
    let whole = FeedReading(bytes)
    whole.requireSame(as: FeedReading(bytes, inPieces: true, capacity: 64))
    whole.requireLimits(bytes)
    whole.requireValuesInRange()
    if whole.error == nil { whole.requireRoundTrip(through: format(for: bytes)) }
  }

  /// The kind of the error. Of two faults behind the end of an XML document, expat may report either.
  private var malformation: FeedError.Code? {
    let isXML = format == .quakeML || format == .seisComP
    return isXML && error?.code == .invalidXML ? .trailingData : error?.code
  }

  private func requireSame(as pieces: FeedReading) {
    require(
      pieces.malformation == malformation,
      "in pieces the error is \(String(describing: pieces.error)), at once \(String(describing: error))"
    )
    require(pieces.records == records, "in pieces the records are the same")
    require(
      pieces.rejects == rejects, "in pieces the rejects are \(pieces.rejects), at once \(rejects)")
    require(pieces.format == format, "in pieces the format is the same")
    require(pieces.columns == columns, "in pieces the columns are the same")
    require(pieces.metadata == metadata, "in pieces the metadata are the same")
  }

  /// A limit is an error, and what was read before it is right.
  private func requireLimits(_ bytes: [UInt8]) {
    var options = FeedReader.Options()
    options.maximumFeatureBytes = 100
    let limited = FeedReading(bytes, inPieces: true, capacity: 64, options: options)
    require(
      records.starts(with: limited.records), "with small events the first records are the same")
    require(
      limited.error != nil || limited.records.count == records.count,
      "no record is missing without an error")
    guard bytes.count > 1 else { return }
    options = FeedReader.Options()
    options.maximumBytes = bytes.count - 1
    let cut = FeedReading(bytes, inPieces: true, options: options)
    require(cut.error != nil, "a feed that is too long is an error")
    require(records.starts(with: cut.records), "of a feed that is too long the first records count")
  }

  private func requireValuesInRange() {
    for record in records {
      require(record.code.map { !$0.isEmpty } ?? false, "a record has a code")
      if let longitude = record.longitude { require(abs(longitude) <= 180, "longitude") }
      if let latitude = record.latitude { require(abs(latitude) <= 90, "latitude") }
      for column in EventColumn.allCases where record.has(column) {
        switch column.kind {
        case .float8: require(record.double(column)?.isFinite ?? true, "\(column) is finite")
        case .text:
          record.withUTF8(column) { text in
            guard let text else { return }
            require(!text.contains(0), "\(column) has no NUL")
            require(String(validating: text, as: UTF8.self) != nil, "\(column) is UTF-8")
          }
        case .timestamp:
          let range = Timestamp.earliest...Timestamp.latest
          require(record.timestamp(column).map(range.contains) ?? true, "\(column) is in range")
        case .int4, .int2, .bool: break
        }
      }
    }
  }

  /// One of the formats that are written and read. It follows from the bytes: all of them for each input would take
  /// most of the time.
  private static func format(for bytes: [UInt8]) -> ExportFormat {
    var pieces = Pieces(bytes)
    return [.geojson, .csv, .ndjson, .fdsnText, .quakeml][pieces.next() % 5]
  }

  /// What is written in a format is read from it again. Only what a store holds is written: an import stores no event
  /// that its feed calls deleted, and gives each event a source.
  private func requireRoundTrip(through format: ExportFormat) {
    var records = records.filter { !$0.isDeletion && $0.has(.source) }
    guard !records.isEmpty else { return }
    // FDSN text is recognised as an export by the catalogue of its first event.
    records.insert(FeedSamples.usual, at: 0)
    let bytes = Self.document(format, records)
    let again = FeedReading(bytes)
    func text() -> String { String(decoding: bytes, as: UTF8.self) }
    require(again.error == nil, "\(format) is read: \(String(describing: again.error)) \(text())")
    require(again.rejects.isEmpty, "\(format) has no rejects: \(again.rejects) \(text())")
    require(again.records.count == records.count, "\(format) has all records: \(text())")
    let columns = again.columns.filter { !again.inferred.contains($0) }
    for (record, read) in zip(records, again.records) {
      for column in columns {
        require(
          Self.value(column, record, format) == Self.value(column, read, format),
          "\(format) keeps \(column.name): \(text())")
      }
    }
  }

  static func document(_ format: ExportFormat, _ records: [EventRecord]) -> [UInt8] {
    var writer = format.makeWriter()
    var bytes: [UInt8] = []
    writer.begin(
      DocumentHead(generated: Timestamp(microseconds: 1_700_000_000_000_000), count: nil, api: "1"))
    for record in records {
      writer.event(record, revision: 3)
      writer.drain { bytes.append(contentsOf: $0) }
    }
    writer.end()
    writer.drain { bytes.append(contentsOf: $0) }
    return bytes
  }

  /// A value as it can be compared. CSV has no empty text that is not a missing one.
  private static func value(
    _ column: EventColumn, _ record: EventRecord, _ format: ExportFormat
  ) -> String {
    guard record.has(column) else { return "null" }
    switch column.kind {
    case .text:
      let text = record.text(column) ?? ""
      return format == .csv && text.isEmpty ? "null" : "\"\(text.unicodeScalars.map(\.value))\""
    case .float8: return "\((record.double(column) ?? .nan) + 0)"
    case .int4, .int2: return "\(record.integer(column) ?? 0)"
    case .timestamp:
      guard let time = record.timestamp(column) else { return "" }
      // JSON's numbers are exact to a microsecond only in the years 1684 to 2255.
      let isExact = format != .geojson && format != .ndjson || abs(time.microseconds) < 1 << 53
      return isExact ? time.description : "far"
    case .bool: return "\(record.bool(column) ?? false)"
    }
  }
}
