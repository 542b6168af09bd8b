/// One `name=value` of a query, decoded.
struct QueryItem: Sendable, Equatable {
  var name: String
  var value: String
}
