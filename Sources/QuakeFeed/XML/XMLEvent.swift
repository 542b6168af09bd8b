/// The values of one event in an XML document, as text. A value that the document lacks is empty.
struct XMLEvent {
  /// The text of an element or attribute.
  typealias Text = [UInt8]

  /// The attributes of the event's element that tell its identity or hold exact values.
  enum Attribute: Int, CaseIterable {
    case publicID, eventSource, eventID, source, net, netCode, type, status, place, magnitudeType

    /// The names without a prefix. Attributes of other names are ignored.
    static let names: [(StaticString, Attribute)] = [
      ("publicID", .publicID), ("eventsource", .eventSource), ("eventid", .eventID),
      ("source", .source), ("net", .net), ("net_code", .netCode), ("type", .type),
      ("status", .status), ("place", .place), ("magnitude_type", .magnitudeType),
    ]
  }

  /// A text with its kind.
  struct Description {
    var text: Text = []
    var kind: Text = []
  }

  /// nil: the event does not have the attribute.
  var attributes: [Text?] = Array(repeating: nil, count: Attribute.allCases.count)
  var preferredOrigin: Text = []
  var preferredMagnitude: Text = []
  var type: Text = []
  var descriptions: [Description] = []
  var agency: Text = []
  var created: Text = []
  var modified: Text = []
  var origins: [XMLOrigin] = []
  var magnitudes: [XMLMagnitude] = []
  /// Origins outside the event, by `publicID`: SeisComP's form.
  var originReferences: [Text] = []

  /// The text of an attribute; nil if the event does not have it.
  subscript(attribute: Attribute) -> Text? { attributes[attribute.rawValue] }
}
