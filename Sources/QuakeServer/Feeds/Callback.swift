/// JSONP: a script that calls a function with a document.
enum Callback {
  static let contentType = "text/javascript; charset=utf-8"
  /// Between the name of the function and the document.
  static let begin = "("
  static let end = ");"

  /// A document that calls `name`, or plain JSON if there is no name.
  static func wrap(_ json: [UInt8], in name: String?, otherwise contentType: String) -> Document {
    guard let name else { return Document(json, contentType: contentType) }
    return Document(
      Array((name + begin).utf8) + json + Array(end.utf8), contentType: Self.contentType)
  }
}
