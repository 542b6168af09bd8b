import QuakeModel

struct Operation: Sendable {
  /// A name that no other route has, such as `listQuakes`.
  var id: String
  /// The purpose of the request, in a few words.
  var summary: String
  var description: String?
  /// The group of routes that it belongs to.
  var tag: String
  var parameters: [Parameter] = []
  var answers: [Answer] = []

  init(
    _ id: String, _ summary: String, tag: String, description: String? = nil,
    parameters: [Parameter] = [], answers: [Answer] = []
  ) {
    self.id = id
    self.summary = summary
    self.description = description
    self.tag = tag
    self.parameters = parameters
    self.answers = answers
  }

  /// A parameter of the query, the path or the header.
  struct Parameter: Sendable {
    enum Place: String, Sendable {
      case query
      case path
      case header
    }

    var name: String
    var place = Place.query
    var schema: Schema
    var summary: String
    var isRequired = false
    /// A valid value, as text.
    var example: String?
    /// Whether an empty value means the same as none.
    var mayBeEmpty = false

    init(
      _ name: String, _ schema: Schema, _ summary: String, in place: Place = .query,
      isRequired: Bool = false, example: String? = nil
    ) {
      self.name = name
      self.place = place
      self.schema = schema
      self.summary = summary
      self.isRequired = isRequired || place == .path
      self.example = example
    }
  }

  enum Schema: Sendable {
    case string(pattern: String? = nil)
    case choice([String])
    case integer(from: Int? = nil, to: Int? = nil)
    case number(ClosedRange<Double>? = nil)
    case boolean
    /// Words with commas between them, each one of these.
    case words([String])
    /// Texts with commas between them, each of which matches a pattern.
    case texts(pattern: String)
    /// As many numbers as there are ranges, with commas between them.
    case numbers([ClosedRange<Double>])
    /// A text that matches a pattern; the parameter may be given several times.
    case repeated(pattern: String)
  }

  struct Answer: Sendable {
    var status: Int
    var summary: String
    var mediaTypes: [String]
    /// The name of the body's schema among those of the OpenAPI document; nil: it has none.
    var schema: String?

    init(
      _ status: Int, _ summary: String, _ mediaTypes: [String] = [], schema: String? = nil
    ) {
      self.status = status
      self.summary = summary
      self.mediaTypes = mediaTypes
      self.schema = schema
    }

    static func json(_ status: Int, _ summary: String, _ schema: String) -> Answer {
      Answer(status, summary, [APIService.json], schema: schema)
    }

    static func problem(_ status: Int, _ summary: String) -> Answer {
      Answer(status, summary, [APIService.problem], schema: "Problem")
    }
  }
}

/// How a service writes its errors.
struct ErrorForm: Sendable {
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
    let text = problemText(error, instance: String(request.encodedPath), more)
    return Response(
      error.status, error.headers,
      body: .document(Document(text, contentType: "application/problem+json")))
  }

  /// The text of an error as `application/problem+json`; without `instance` if the request is not known.
  static func problemText(
    _ error: HTTPError, instance: String?, _ more: (inout JSONWriter) -> Void = { _ in }
  ) -> [UInt8] {
    var json = JSONWriter()
    json.object { json in
      json.member("type", "about:blank")
      json.member("title", error.title)
      json.member("status", error.status)
      json.member("detail", error.detail)
      if let instance { json.member("instance", instance) }
      more(&json)
    }
    json.newline()
    return json.take()
  }
}
