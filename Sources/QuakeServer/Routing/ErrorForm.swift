import QuakeModel

/// How a service writes its errors.
struct ErrorForm: Sendable {
  /// The media type of the text.
  let mediaType: String
  /// The answer for an error of a request that arrived at a time.
  let response: @Sendable (HTTPError, Request, Timestamp) -> Response

  /// `application/problem+json` (RFC 9457).
  static let problem = ErrorForm(mediaType: "application/problem+json") { error, request, _ in
    problem(error, request)
  }

  /// An error as `application/problem+json`, with the members that `more` adds.
  static func problem(
    _ error: HTTPError, _ request: Request, _ more: (inout JSONWriter) -> Void = { _ in }
  ) -> Response {
    var json = JSONWriter()
    json.object { json in
      json.key("type")
      json.string("about:blank")
      json.key("title")
      json.string(error.title)
      json.key("status")
      json.integer(error.status)
      json.key("detail")
      json.string(error.detail)
      json.key("instance")
      json.string(String(request.encodedPath))
      more(&json)
    }
    json.newline()
    let document = Document(json.take(), contentType: "application/problem+json")
    return Response(error.status, error.headers, body: .document(document))
  }
}
