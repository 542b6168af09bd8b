import QuakeModel

/// The stream that a client asks for.
struct StreamOrder: Sendable {
  /// Where the stream begins.
  enum Start: Sendable {
    /// With the changes that are committed from now on.
    case now
    /// With the present list of events.
    case snapshot
    /// After a cursor that the client has.
    case after(HistoryCursor)
  }

  var start = Start.now
  var form = StreamForm.events
  var filter = QuakeFilter()
  /// After how many changes the stream ends; the events of a snapshot do not count.
  var limit = Int64.max
  /// The client's address.
  var client = ""
  /// A long poll: the stream ends when it has handed over what there is, or after this time without a change.
  var wait: Duration?
}
