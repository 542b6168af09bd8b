public import QuakeModel

/// An FDSN event service and its URLs.
public struct EventService: Sendable {
  /// The base URL of USGS's service.
  public static let usgsBaseURL = "https://earthquake.usgs.gov/fdsnws/event/1"

  /// Where epicentres lie: in a box, in a circle, or in both.
  ///
  /// A service may read the parameters in another way, and not every one has all of them. So a query may ask for
  /// more than the region, and `contains` decides.
  public struct Region: Sendable, Hashable {
    /// A box, which may cross the 180th meridian; nil: anywhere.
    public var box: EventFilter.BoundingBox?
    /// A circle; nil: anywhere.
    public var circle: EventFilter.Circle?

    /// The region where both hold.
    public init(box: EventFilter.BoundingBox? = nil, circle: EventFilter.Circle? = nil) {
      self.box = box
      self.circle = circle
    }

    /// Kilometres of a degree of a great circle, as few as a service may use.
    private static let leastKilometres = 110.5

    /// Whether an event lies in it; false if it has no epicentre.
    public func contains(_ record: EventRecord) -> Bool {
      guard box != nil || circle != nil else { return true }
      guard let longitude = record.longitude, let latitude = record.latitude
      else { return false }
      return box?.contains(longitude: longitude, latitude: latitude) ?? true
        && circle?.contains(longitude: longitude, latitude: latitude) ?? true
    }

    /// The region as options of the tools; nil: anywhere.
    public var options: String? {
      func text(_ numbers: Double...) -> String {
        numbers.map { Int(exactly: $0).map(String.init) ?? "\($0)" }.joined(separator: ",")
      }
      let parts = [
        box.map { "--bbox \(text($0.west, $0.south, $0.east, $0.north))" },
        circle.map { "--within \(text($0.radius)):\(text($0.latitude, $0.longitude))" },
      ].compactMap { $0 }
      return parts.isEmpty ? nil : parts.joined(separator: " ")
    }

    /// The parameters of a query, with the first ampersand.
    fileprivate var arguments: String {
      var text = ""
      if let box {
        text += "&minlatitude=\(box.south)&maxlatitude=\(box.north)"
        // Services disagree about a box that crosses the 180th meridian.
        if box.west <= box.east { text += "&minlongitude=\(box.west)&maxlongitude=\(box.east)" }
      }
      if let circle {
        let degrees = (circle.radius / Self.leastKilometres * 1000).rounded(.up) / 1000
        if degrees < 180 {
          text += "&latitude=\(circle.latitude)&longitude=\(circle.longitude)&maxradius=\(degrees)"
        }
      }
      return text
    }
  }

  /// The parameters of a query.
  public struct Query: Sendable, Equatable {
    /// Origin time of the earliest event, inclusive.
    public var start: Timestamp
    /// Origin time of the latest event, inclusive.
    public var end: Timestamp
    /// Least magnitude; nil: all events, also those without a magnitude.
    public var minimumMagnitude: Double?
    /// The region of the epicentres.
    public var region = Region()

    /// A query for the events between two origin times, both inclusive and sent to the service in whole
    /// seconds.
    public init(
      from start: Timestamp, to end: Timestamp, minimumMagnitude: Double? = nil,
      region: Region = Region()
    ) {
      self.start = start
      self.end = end
      self.minimumMagnitude = minimumMagnitude
      self.region = region
    }
  }

  /// The data centre that runs it.
  public private(set) var centre: DataCentre
  /// Whether the data centre was specified, or is known for the host; else it is named after the host.
  public private(set) var isCentreKnown: Bool
  /// The base URL as given, up to the version.
  private let base: FeedURL

  /// The service at `base`, such as `https://earthquake.usgs.gov/fdsnws/event/1`.
  ///
  /// - Parameters:
  ///   - centre: The data centre; nil to derive it from the host.
  ///   - secrets: Parts of the URL that must not be printed.
  public init(
    base: String, centre: DataCentre? = nil, secrets: [String] = []
  ) throws(FeedError) {
    guard base.utf8.count <= FeedReference.maximumBytes else {
      throw FeedError(
        .invalidReference,
        "the address of the event service is too long: \(base.utf8.count) bytes, where \(FeedReference.maximumBytes) are allowed"
      )
    }
    var text = Substring(base)
    while text.last == "/" { text.removeLast() }
    if text.hasSuffix("/query") { text.removeLast("/query".count) }
    let scheme = URLText.scheme(of: base)
    guard scheme == "http" || scheme == "https", URLText.host(of: base) != nil, !text.contains("?"),
      !text.contains("#"),
      let found = centre ?? DataCentre(url: base)
    else {
      throw FeedError(
        .invalidReference,
        "\"\(FeedURL(base, secrets: secrets))\" is not the address of an event service",
        hint: "Give it up to its version, such as \(Self.usgsBaseURL).")
    }
    self.base = FeedURL(String(text), secrets: secrets)
    self.centre = found
    isCentreKnown = centre != nil || DataCentre.known(at: base) != nil
  }

  /// The same service with a known data centre.
  public func of(_ centre: DataCentre) -> EventService {
    var service = self
    service.centre = centre
    service.isCentreKnown = true
    return service
  }

  /// The URL of the number of events that match.
  public func countURL(_ query: Query) -> FeedURL {
    base.appending("/count?\(arguments(query))")
  }

  /// The URL of the events that match, earliest first: for USGS as GeoJSON, which has more columns than text;
  /// for other centres as text, which all of them support.
  ///
  /// - Parameter limit: The most events; nil for the service's default. GeoNet's service accepts no limit.
  public func queryURL(_ query: Query, limit: Int64?) -> FeedURL {
    let format = centre.hasFormOfUSGS ? "geojson" : "text"
    let most = limit.map { "&limit=\($0)" } ?? ""
    return base.appending("/query?\(arguments(query))&orderby=time-asc\(most)&format=\(format)")
  }

  /// The URL of the version of the service, which every one tells.
  public var versionURL: FeedURL { base.appending("/version") }

  /// The URL of one of the events that match, as GeoJSON. The answer shows whether the service is of USGS's
  /// kind.
  public func sampleURL(_ query: Query) -> FeedURL {
    base.appending("/query?\(arguments(query))&limit=1&format=geojson")
  }

  private func arguments(_ query: Query) -> String {
    // Without a time zone and a fraction: every service accepts this form, and reads it as UTC.
    func text(_ time: Timestamp) -> Substring { time.description.prefix(19) }
    var text = "starttime=\(text(query.start))&endtime=\(text(query.end))"
    if let magnitude = query.minimumMagnitude { text += "&minmagnitude=\(magnitude)" }
    return text + query.region.arguments
  }

  /// The number in the body of an answer to `countURL`; nil if the body is not exactly a number.
  public static func count(in body: any ByteSource) throws(FeedError) -> Int64? {
    let (bytes, failure) = body.readBytes(atMost: 64)
    if let failure { throw failure }
    let text = String(decoding: bytes, as: UTF8.self).filter { !$0.isWhitespace }
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int64(text)
  }
}

extension EventService: CustomStringConvertible {
  /// Its URL without secrets.
  public var description: String { base.shown }
}

/// The words with which services say that no event matches a query.
enum NoDataAnswer {
  private static let words = [
    "no data", "no event", "no earthquake", "no matching", "no match", "no result", "no record",
    "nothing found", "not find any", "did not match", "0 events", "0 matching",
  ]

  /// Whether a short text says so. A page for people does not count: it may say anything.
  static func matches(_ text: String) -> Bool {
    let text = text.lowercased()
    guard !text.contains("<html"), !text.contains("<!doctype") else { return false }
    return words.contains { word in
      guard let found = text.firstRange(of: word) else { return false }
      // "20 events exceed the limit" is another answer than "0 events".
      return found.lowerBound == text.startIndex
        || !text[text.index(before: found.lowerBound)].isLetterOrDigit
    }
  }
}

extension Character {
  fileprivate var isLetterOrDigit: Bool { isLetter || isNumber }
}
