import Compression
import QuakeModel

extension Response {
  /// The response with the headers of USGS's documents, which a cache may keep for a minute.
  func kept(forAMinuteFrom time: Timestamp) -> Response {
    var response = self
    let end = Timestamp(microseconds: time.microseconds + 60_000_000)
    response.headers.append("Cache-Control", "public, max-age=60")
    response.headers.append("Expires", HTTPDate.text(end))
    response.headers.append("Last-Modified", HTTPDate.text(time))
    return response
  }
}
