package import QuakeModel

extension JSONWriter {
  /// Writes the status of a requested poll of one feed.
  ///
  /// - Parameter request: The number of the request.
  package mutating func refresh(_ feed: RefreshRequest.Status, request: Int64) {
    object { json in
      json.key("request")
      json.integer(Int(request))
      json.key("feed")
      json.string(feed.feed)
      json.key("outcome")
      json.string(feed.outcome?.rawValue)
      json.key("import")
      json.integer(feed.importID)
      json.key("seen")
      json.integer(feed.seen)
      json.key("inserted")
      json.integer(feed.inserted)
      json.key("updated")
      json.integer(feed.updated)
      json.key("token")
      json.string(feed.token?.description)
      json.key("error")
      json.string(feed.error)
    }
  }
}
