public import QuakeModel

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
