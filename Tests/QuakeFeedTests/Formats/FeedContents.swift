import QuakeModel

@testable import QuakeFeed

/// The contents of a whole feed.
struct FeedContents {
  var format: FeedFormat
  var columns: [EventColumn]
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

/// The error that reading a feed ends in; nil when there is none.
func failure(of text: String, options: FeedReader.Options = .init()) -> FeedError? {
  failure(of: BytesSource(text), options: options)
}

func failure(of source: any ByteSource, options: FeedReader.Options = .init()) -> FeedError? {
  do throws(FeedError) {
    _ = try FeedContents(source, options: options)
    return nil
  } catch {
    return error
  }
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
