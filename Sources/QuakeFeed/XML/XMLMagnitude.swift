/// A magnitude, as text.
struct XMLMagnitude {
  var id: XMLEvent.Text = []
  var value: XMLEvent.Text = []
  var type: XMLEvent.Text = []
  var origin: XMLEvent.Text = []

  /// About its size in memory.
  var bytes: Int { id.count + value.count + type.count + origin.count + 200 }
}
