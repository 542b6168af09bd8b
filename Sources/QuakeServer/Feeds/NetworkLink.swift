import QuakeFormat
import QuakeModel

/// A KML document with which a viewer loads a feed again every minute.
struct NetworkLink {
  let title: String
  /// The address of the document itself: that of the feed with `_link`.
  let url: String

  var document: Document {
    var out = TextWriter()
    out.literal(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <kml xmlns="http://www.opengis.net/kml/2.2"><Document><name>Earthquakes</name><open>1</open>
      <NetworkLink><name>
      """)
    out.xml(title)
    out.literal("</name><Link><href>")
    let link = "_link.kml"
    out.xml(url.hasSuffix(link) ? url.dropLast(link.count) + ".kml" : url)
    out.literal(
      """
      </href><refreshMode>onInterval</refreshMode><refreshInterval>60</refreshInterval></Link></NetworkLink>
      </Document></kml>

      """)
    var bytes: [UInt8] = []
    out.withBytes { bytes += $0 }
    return Document(bytes, contentType: ExportFormat.kml.mediaType)
  }
}
