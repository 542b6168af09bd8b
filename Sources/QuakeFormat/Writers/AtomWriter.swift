internal import QuakeModel

/// An Atom feed (RFC 4287) with GeoRSS: an entry for each event. `published` is the origin time, `georss:elev`
/// the negative depth in metres; magnitude and depth are also categories.
struct AtomWriter: TextEventWriter {
  var out = TextWriter()
  private let isForService: Bool
  private var id = EventAddress(before: "urn:x-quake:event:")

  /// - Parameter form: The form of a server's documents, which say where they are; nil for a file.
  init(form: ServiceForm? = nil) {
    isForService = form != nil
  }

  mutating func begin(_ head: DocumentHead) {
    out.literal(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <feed xmlns="http://www.w3.org/2005/Atom" xmlns:georss="http://www.georss.org/georss">
      <title>
      """)
    out.xml(head.title)
    out.literal("</title>\n<id>")
    out.xml(head.url)
    out.literal("</id>\n")
    if isForService {
      out.literal("<link rel=\"self\" type=\"application/atom+xml\" href=\"")
      out.xml(head.url)
      out.literal("\"/>\n")
    }
    out.literal("<updated>")
    out.timestamp(head.generated)
    out.literal("</updated>\n<author><name>Quake</name></author>\n<generator version=\"")
    out.xml(head.api)
    out.literal("\">Quake</generator>\n")
  }

  mutating func event(_ event: EventRecord, revision: Int64?) {
    out.literal("<entry><id>")
    id.withAddress(of: event) { out.bytes($0) }
    out.literal("</id><title>")
    out.headline(event)
    out.literal("</title><updated>")
    if let updated = event.updated ?? event.time { out.timestamp(updated) }
    out.literal("</updated>")
    out.element("<published>", event.time, "</published>")
    if event.hasWebAddress {
      out.literal("<link rel=\"alternate\" type=\"text/html\" href=\"")
      out.xml(event, .url)
      out.literal("\"/>")
    }
    summary(event)
    out.element("<category label=\"Magnitude\" term=\"", event.magnitude, "\"/>")
    out.element("<category label=\"Depth\" term=\"", event.depth, "\"/>")
    if event.isPast || event.has(.type) {
      out.literal("<category label=\"Type\" term=\"")
      if event.isPast { out.literal(PastEvent.type) } else { out.xml(event, .type) }
      out.literal("\"/>")
    }
    if let longitude = event.longitude, let latitude = event.latitude {
      out.literal("<georss:point>")
      out.double(latitude)
      out.byte(0x20)
      out.double(longitude)
      out.literal("</georss:point>")
      if let depth = event.depth {
        out.literal("<georss:elev>")
        out.thousandfold(depth == 0 ? 0 : -depth)
        out.literal("</georss:elev>")
      }
    }
    out.literal("</entry>\n")
  }

  mutating func end() { out.literal("</feed>\n") }

  /// A sentence for people; an entry without a link must have one.
  private mutating func summary(_ event: EventRecord) {
    out.literal("<summary>")
    out.headline(event)
    if let time = event.time {
      out.literal("; origin time ")
      out.timestamp(time)
    }
    if let depth = event.depth {
      out.literal("; depth ")
      out.double(depth)
      out.literal(" km")
    }
    out.literal("</summary>")
  }
}
