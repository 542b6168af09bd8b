import QuakeModel
import TestSupport

@testable import QuakeFeed

/// The contents of a whole feed.
struct FeedContents {
  var format: FeedFormat
  var columns: [EventColumn]
  var inferredColumns: Set<EventColumn>
  var records: [EventRecord] = []
  var rejects: [FeedReject] = []
  var metadata = FeedMetadata()
  var bytesRead = 0
  var recordsSeen = 0

  init(
    _ source: any ByteSource, options: FeedReader.Options = .init(), keepsRecords: Bool = true
  ) throws(FeedError) {
    let reader = try FeedReader(source: source, name: "test", options: options)
    format = reader.format
    columns = reader.columns
    inferredColumns = reader.inferredColumns
    var record = EventRecord()
    while let item = try reader.next(into: &record) {
      switch item {
      case .record: if keepsRecords { records.append(record) }
      case .reject(let reject): rejects.append(reject)
      }
    }
    metadata = reader.metadata
    bytesRead = reader.bytesRead
    recordsSeen = reader.recordsSeen
  }

  init(_ text: String, options: FeedReader.Options = .init()) throws(FeedError) {
    try self.init(BytesSource(text), options: options)
  }
}

extension EventRecord {
  /// The values of a record in the order of the columns: `code=us1`.
  var values: [String] { values(of: EventColumn.allCases) }

  func values(of columns: [EventColumn]) -> [String] {
    columns.filter(has).map { column in
      let value =
        switch column.kind {
        case .text: text(column) ?? ""
        case .float8: "\(double(column) ?? .nan)"
        case .int4, .int2: "\(integer(column) ?? 0)"
        case .timestamp: "\(timestamp(column) ?? .latest)"
        case .bool: "\(bool(column) ?? false)"
        }
      return "\(column.name)=\(value)"
    }
  }
}

/// The error that reading a feed ends in; nil when there is none.
func failure(of text: String, options: FeedReader.Options = .init()) -> FeedError? {
  failure(of: BytesSource(text), options: options)
}

func failure(of source: any ByteSource, options: FeedReader.Options = .init()) -> FeedError? {
  thrown { () throws(FeedError) in _ = try FeedContents(source, options: options) }
}

/// A GeoJSON collection of the given features.
func collection(_ features: String...) -> String {
  #"{"type":"FeatureCollection","features":["# + features.joined(separator: ",") + "]}"
}

/// A USGS feature with an id, a time, coordinates and the given further properties.
func feature(
  id: String = #""us1""#, time: String = "1000", coordinates: String = "[1,2,3]",
  _ properties: String = ""
) -> String {
  let more = properties.isEmpty ? "" : ",\(properties)"
  return #"{"type":"Feature","properties":{"time":\#(time)\#(more)},"#
    + #""geometry":{"type":"Point","coordinates":\#(coordinates)},"id":\#(id)}"#
}

/// Bytes in memory, read in pieces of the given sizes.
final class BytesSource: ByteSource {
  private let bytes: [UInt8]
  private var position = 0
  private let pieceSize: () -> Int
  private let failure: FeedError?

  /// - Parameter failure: thrown in place of the end.
  init(_ bytes: [UInt8], failure: FeedError? = nil, pieceSize: @escaping () -> Int = { .max }) {
    self.bytes = bytes
    self.failure = failure
    self.pieceSize = pieceSize
  }

  convenience init(_ text: String) {
    self.init(Array(text.utf8))
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(FeedError) -> Int {
    let count = min(buffer.count, bytes.count - position, max(1, pieceSize()))
    if count == 0, let failure { throw failure }
    buffer.copyBytes(from: bytes[position..<(position + count)])
    position += count
    return count
  }
}
