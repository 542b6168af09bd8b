import CommandLine
import QuakeFormat
import QuakeModel
import QuakeTool

/// A change in the form of EMSC's live feed: an action and a GeoJSON feature.
///
/// Beyond EMSC's, there is the action `delete`, for events that are deleted, withdrawn or superseded; `truncate`
/// and `reset`, without a feature; and the member `cursor`, from which a client resumes.
struct LiveMessage {
  private var json = JSONWriter()

  mutating func frame(_ change: Change) -> [UInt8] {
    let isListed = Self.isListed(change.new)
    let action: String =
      change.op == .truncate
      ? "truncate" : !isListed ? "delete" : Self.isListed(change.old) ? "update" : "create"
    json.object { json in
      json.member("action", action)
      json.key("data")
      if let event = change.new ?? change.old {
        Self.write(event, &json)
      } else {
        json.null()
      }
      json.member("cursor", change.cursor.eventID)
    }
    return takeFrame()
  }

  /// The frame that tells that changes are missing: the client reads the list anew, and goes on.
  mutating func reset(
    _ reason: String, after lost: ChangeToken, token: ChangeToken
  ) -> [UInt8] {
    json.object { json in
      json.member("action", "reset")
      json.null("data")
      json.member("reason", reason)
      json.member("after", lost.description)
      json.member("cursor", token.description)
    }
    return takeFrame()
  }

  private mutating func takeFrame() -> [UInt8] {
    defer { json.removeAll() }
    var frame: [UInt8] = []
    json.withBytes { frame = WebSocketFrame.encode($0, .text) }
    return frame
  }

  /// Whether an event is in the list of current events.
  private static func isListed(_ event: EventRecord?) -> Bool {
    guard let event else { return false }
    return !event.has(.withdrawnAt) && !event.has(.supersededBy)
  }

  private static func write(_ event: EventRecord, _ json: inout JSONWriter) {
    let longitude = event.longitude
    let latitude = event.latitude
    let depth = event.depth
    json.object { json in
      json.member("type", "Feature")
      json.member("id", of: .code, in: event)
      json.key("geometry")
      if let longitude, let latitude {
        // EMSC's third coordinate is a height, not a depth.
        json.point(longitude, latitude, depth.map { $0 == 0 ? 0 : -$0 })
      } else {
        json.null()
      }
      json.object("properties") { json in
        json.member("source_id", of: .netCode, in: event)
        json.member("source_catalog", of: .source, in: event)
        json.member("lastupdate", of: .updated, in: event)
        json.member("time", of: .time, in: event)
        json.member("flynn_region", of: .place, in: event)
        json.member("lat", latitude)
        json.member("lon", longitude)
        json.member("depth", depth)
        json.member("evtype", evtype(event.type))
        json.member("auth", of: .net, in: event)
        json.member("mag", of: .magnitude, in: event)
        json.member("magtype", of: .magnitudeType, in: event)
        json.member("unid", of: .code, in: event)
      }
    }
  }

  /// EMSC's two-letter code of an event's type: the certainty, usually `k` for known, and the type.
  private static func evtype(_ type: String?) -> String? {
    switch type {
    case nil, "earthquake": "ke"
    case "explosion": "kx"
    case "chemical explosion": "kh"
    case "mining explosion", "quarry blast": "km"
    case "nuclear explosion": "kn"
    case "rock burst": "kr"
    case "induced or triggered event": "ki"
    case "landslide": "ls"
    default: "uk"
    }
  }
}

/// The changes of a page as frames of a WebSocket, in the form of EMSC's live feed.
///
/// `@unchecked Sendable`: the memory is written in the initialiser and only read afterwards.
final class WebSocketPage: @unchecked Sendable {
  private let memory: UnsafeMutableRawBufferPointer
  /// Where each frame begins, and the end.
  private let starts: [Int]

  init(_ page: EncodedPage) {
    var message = LiveMessage()
    var bytes: [UInt8] = []
    var starts = [0]
    for change in page.changes {
      bytes += message.frame(change)
      starts.append(bytes.count)
    }
    memory = .allocate(byteCount: max(bytes.count, 1), alignment: 16)
    memory.copyBytes(from: bytes)
    self.starts = starts
  }

  deinit {
    memory.deallocate()
  }

  func bytes(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: memory[starts[range.lowerBound]..<starts[range.upperBound]])
  }
}

/// Live changes in EMSC's message form over a WebSocket: `/standing_order/websocket`.
struct LiveFeedService {
  private let streams: ChangeStreams

  init(_ streams: ChangeStreams) {
    self.streams = streams
  }

  var routes: [Route] {
    [
      Route(
        method: .get, path: "/standing_order/websocket", operation: Self.operation,
        handler: .immediate { [streams] request in
          let order = try ChangeStreamParameters.liveFeedOrder(request)
          return Response(
            101, try WebSocketHandshake.answer(request), body: .upgrade { streams.add($0, order) })
        })
    ]
  }

  private static let operation = Operation(
    "liveFeed", "Follow the changes over a WebSocket", tag: "Changes",
    description: """
      Sends each change as a message in the form of EMSC's live feed: action (create, update or delete), data \
      (a GeoJSON feature) and cursor. A client that comes back with the last cursor in the parameter after \
      goes on there; if that is not possible, it gets the action reset and should read the list anew.
      """,
    parameters: ChangeStreamParameters.liveFeedOptions.map { option in
      Operation.Parameter(option.name, .string(), option.help)
    },
    answers: [
      Operation.Answer(101, "The connection changes to the WebSocket protocol"),
      Operation.Answer(
        400, "The request is not one for a WebSocket, or a parameter is not valid",
        ["application/problem+json"]),
    ])
}
