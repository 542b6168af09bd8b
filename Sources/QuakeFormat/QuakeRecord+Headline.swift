internal import QuakeModel

extension TextWriter {
  /// Writes the headline of an event as the content of an element: its title, or magnitude and place.
  mutating func headline(_ event: QuakeRecord) {
    guard !event.has(.title) else { return xml(event, .title) }
    literal("M ")
    if let magnitude = event.double(.magnitude), magnitude.isFinite {
      double(magnitude)
    } else {
      byte(UInt8(ascii: "?"))
    }
    literal(" - ")
    xml(event, event.has(.place) ? .place : .code)
  }
}
