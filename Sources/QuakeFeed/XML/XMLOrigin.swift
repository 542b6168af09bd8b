/// An origin, as text.
struct XMLOrigin {
  var id: XMLEvent.Text = []
  var time: XMLEvent.Text = []
  var longitude: XMLEvent.Text = []
  var latitude: XMLEvent.Text = []
  var depth: XMLEvent.Text = []
  var stations: XMLEvent.Text = []
  var rms: XMLEvent.Text = []
  var gap: XMLEvent.Text = []
  var distance: XMLEvent.Text = []
  var mode: XMLEvent.Text = []
  var status: XMLEvent.Text = []
  var agency: XMLEvent.Text = []

  /// Whether its agency has rejected it.
  var isRejected: Bool { status.elementsEqual("rejected".utf8) }

  /// About its size in memory.
  var bytes: Int {
    let texts = [
      id, time, longitude, latitude, depth, stations, rms, gap, distance, mode, status, agency,
    ]
    return texts.reduce(200) { $0 + ($1.isEmpty ? 0 : $1.count + 48) }
  }
}
