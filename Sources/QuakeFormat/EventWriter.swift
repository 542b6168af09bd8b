public import QuakeModel

/// Writes one document of events to a buffer that its owner empties: `begin`, `event` for each event, `end`.
///
/// The writer never reads back what it has written, so the owner may drain it after any call, and memory
/// depends on the longest event alone.
public protocol EventWriter {
  /// How many bytes wait to be drained.
  var count: Int { get }

  mutating func begin(_ head: DocumentHead)

  /// Writes an event. An event that is withdrawn or superseded is marked in a way that an import
  /// recognises.
  ///
  /// - Parameter revision: How often the event has been written; nil: not known. QuakeML states it.
  mutating func event(_ event: EventRecord, revision: Int64?)

  /// Writes an event that is preferred to others of the same earthquake. Formats that cannot name these
  /// write the event alone.
  mutating func event(_ event: EventRecord, revision: Int64?, others: [String])

  mutating func end()

  /// Hands over what has been written, and empties the buffer.
  mutating func drain(_ body: (UnsafeRawBufferPointer) throws -> Void) rethrows
}

extension EventWriter {
  /// Writes the event alone.
  public mutating func event(_ event: EventRecord, revision: Int64?, others: [String]) {
    self.event(event, revision: revision)
  }
}

/// A writer of a document that is written as text.
protocol TextEventWriter: EventWriter {
  /// What waits to be drained.
  var out: TextWriter { get set }
}

extension TextEventWriter {
  var count: Int { out.count }

  mutating func drain(_ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
    try out.withBytes(body)
    out.removeAll()
  }
}

/// The metadata of a document.
public struct DocumentHead: Sendable {
  /// The moment whose events the document shows.
  public var generated: Timestamp
  /// The document's headline.
  public var title: String
  /// The address of the document, or a name for it.
  public var url: String
  /// How many events follow; nil: not known. GeoJSON states it.
  public var count: Int?
  /// The limit of the query that the document answers; nil: it had none. GeoJSON states it.
  public var limit: Int?
  /// The place of the first event among those of the query, from 1. GeoJSON states it beside a limit.
  public var offset = 1
  /// The version of the program.
  public var api: String

  /// A head of the given parts.
  public init(
    generated: Timestamp, title: String = "Earthquakes", url: String = "quake:export",
    count: Int? = nil, api: String
  ) {
    self.generated = generated
    self.title = title
    self.url = url
    self.count = count
    self.api = api
  }
}

extension EventRecord {
  /// Whether the row describes no earthquake now: its event is withdrawn or superseded.
  var isPast: Bool { has(.withdrawnAt) || has(.supersededBy) }

  /// Whether its URL begins with http or https. A viewer would run what a URL of another scheme names, or open it
  /// on its own machine.
  var hasWebAddress: Bool {
    withUTF8(.url) { (url: UnsafeRawBufferPointer?) in
      guard let url else { return false }
      let schemes: [StaticString] = ["http://", "https://"]
      return schemes.contains { scheme in
        let size = scheme.utf8CodeUnitCount
        return url.count > size && UnsafeRawBufferPointer(rebasing: url[..<size]).isWord(scheme)
      }
    }
  }
}

/// The words that mark an event that is no earthquake of its own now.
enum PastEvent {
  /// The event type: QuakeML's word for an event that does not exist. An import withdraws such events.
  static let type: StaticString = "not existing"
  /// The status: USGS's word.
  static let status: StaticString = "deleted"
}
