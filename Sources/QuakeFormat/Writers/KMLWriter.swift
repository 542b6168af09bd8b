internal import QuakeModel

/// KML 2.2: a placemark for each event, with its values as typed data. The altitude is the negative depth in
/// metres; it is not used for drawing, because the hypocentre lies below the ground. In a server's documents, each
/// has a colour by its age and a size by its magnitude.
struct KMLWriter: TextEventWriter {
  private static let schema: StaticString = """
    <Schema name="event" id="event">
    <SimpleField type="string" name="code"/>
    <SimpleField type="double" name="magnitude"/>
    <SimpleField type="string" name="magnitude_type"/>
    <SimpleField type="double" name="depth"/>
    <SimpleField type="string" name="time"/>
    <SimpleField type="string" name="updated"/>
    <SimpleField type="string" name="type"/>
    <SimpleField type="string" name="status"/>
    <SimpleField type="string" name="place"/>
    <SimpleField type="string" name="source"/>
    <SimpleField type="string" name="url"/>
    </Schema>

    """

  var out = TextWriter()
  private let isServed: Bool
  private var generated = Timestamp.now()

  /// - Parameter form: The form of a server's documents, whose placemarks have styles; nil for a file, whose
  ///   placemarks have times.
  init(form: ServiceForm? = nil) {
    isServed = form != nil
  }

  mutating func begin(_ head: DocumentHead) {
    generated = head.generated
    out.literal(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <kml xmlns="http://www.opengis.net/kml/2.2">
      <Document>
      <name>
      """)
    out.xml(head.title)
    out.literal("</name>\n")
    out.literal(Self.schema)
  }

  mutating func event(_ event: EventRecord, revision: Int64?) {
    out.literal("<Placemark><name>")
    out.headline(event)
    out.literal("</name>")
    if isServed {
      style(event)
    } else {
      out.element("<TimeStamp><when>", event.time, "</when></TimeStamp>")
    }
    out.literal("<ExtendedData><SchemaData schemaUrl=\"#event\">")
    text("code", event, .code)
    number("magnitude", event.magnitude)
    text("magnitude_type", event, .magnitudeType)
    number("depth", event.depth)
    instant("time", event.time)
    instant("updated", event.updated)
    if event.isPast {
      open("type")
      out.literal(PastEvent.type)
      close()
      open("status")
      out.literal(PastEvent.status)
      close()
    } else {
      text("type", event, .type)
      text("status", event, .status)
    }
    text("place", event, .place)
    text("source", event, .source)
    if event.hasWebAddress { text("url", event, .url) }
    out.literal("</SchemaData></ExtendedData>")
    if let longitude = event.longitude, let latitude = event.latitude {
      out.literal("<Point><altitudeMode>clampToGround</altitudeMode><coordinates>")
      out.double(longitude)
      out.byte(UInt8(ascii: ","))
      out.double(latitude)
      if let depth = event.depth {
        out.byte(UInt8(ascii: ","))
        out.thousandfold(depth == 0 ? 0 : -depth)
      }
      out.literal("</coordinates></Point>")
    }
    out.literal("</Placemark>\n")
  }

  mutating func end() { out.literal("</Document>\n</kml>\n") }

  /// Writes USGS's colours, as opacity, blue, green and red, and its sizes.
  private mutating func style(_ event: EventRecord) {
    let scales = [0.2, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.1, 1.5, 2.0, 2.5]  // of magnitudes 0 to 10
    let magnitude = min(max(event.magnitude ?? 0, 0), 10)
    out.literal("<Style><IconStyle><color>")
    out.literal(ageColour(event))
    out.literal("</color><scale>")
    out.double(scales[Int(magnitude)])
    out.literal("</scale></IconStyle></Style>")
  }

  private func ageColour(_ event: EventRecord) -> StaticString {
    let seconds = event.time.map {
      (generated.microseconds - $0.microseconds) / 1_000_000
    }
    return switch seconds ?? .max {
    case ...3600: "dd0000fc"
    case ...86_400: "dd009dfe"
    case ...604_800: "dd03fffb"
    default: "ddffffff"
    }
  }

  private mutating func open(_ name: StaticString) {
    out.literal("<SimpleData name=\"")
    out.literal(name)
    out.literal("\">")
  }

  private mutating func close() { out.literal("</SimpleData>") }

  private mutating func text(_ name: StaticString, _ event: EventRecord, _ column: EventColumn) {
    guard event.has(column) else { return }
    open(name)
    out.xml(event, column)
    close()
  }

  private mutating func number(_ name: StaticString, _ value: Double?) {
    guard let value, value.isFinite else { return }
    open(name)
    out.double(value)
    close()
  }

  private mutating func instant(_ name: StaticString, _ value: Timestamp?) {
    guard let value else { return }
    open(name)
    out.timestamp(value)
    close()
  }
}
