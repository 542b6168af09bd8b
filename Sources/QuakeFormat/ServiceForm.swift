internal import QuakeModel

/// The form of documents that a server sends to the programs which read USGS's feeds and event service.
///
/// Those programs fail on values that USGS always has, so in GeoJSON an event has a depth (0 if it is not
/// known), `updated` (the origin time), `url`, `title`, `type`, `ids`, `sources` and `types` in any case. A
/// document of this form is not meant to be imported: a document without a form has missing values as null.
public struct ServiceForm: Sendable {
  /// Where the address in `detail` leads.
  public enum Detail: Sendable {
    /// To the document beside the summary feeds.
    case feed
    /// To the query of the FDSN event service for the event.
    case query
  }

  /// The address of the server without a slash at its end, such as `http://127.0.0.1:8080`.
  public var baseURL: String
  /// Where the address in `detail` leads.
  public var detail: Detail

  /// A form of the given parts.
  public init(baseURL: String, detail: Detail) {
    self.baseURL = baseURL
    self.detail = detail
  }

  /// The addresses of the events themselves, for those without one.
  var pages: EventAddress { EventAddress(before: baseURL + "/v1/quakes/") }

  /// The addresses of the events as QuakeML. Clients take the name of the file from the path.
  var quakeML: EventAddress {
    EventAddress(before: baseURL + "/earthquakes/feed/v1.0/detail/", after: ".quakeml")
  }

  /// The addresses of the events' detail documents.
  var details: EventAddress {
    switch detail {
    case .feed:
      EventAddress(before: baseURL + "/earthquakes/feed/v1.0/detail/", after: ".geojson")
    case .query:
      EventAddress(before: baseURL + "/fdsnws/event/1/query?eventid=", after: "&format=geojson")
    }
  }
}
