/// A list of entity tags, as in `If-None-Match`.
enum EntityTags {
  /// Whether a list names a tag; a weak tag is the same as a strong one.
  static func contains(_ list: String?, _ tag: String) -> Bool {
    guard let list else { return false }
    return list.split(separator: ",").contains { item in
      var item = item.drop { $0 == " " || $0 == "\t" }
      while item.last == " " || item.last == "\t" { item.removeLast() }
      if item == "*" { return true }
      if item.hasPrefix("W/") { item = item.dropFirst(2) }
      return item == tag
    }
  }
}
