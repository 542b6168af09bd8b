/// A request that cannot be answered as asked: the status and what the client is told.
struct HTTPError: Error, Sendable {
  /// The HTTP status, 400 to 599.
  var status: Int
  /// What is wrong and what to do, in sentences.
  var detail: String
  /// Header fields of the answer, such as `Allow` and `Retry-After`.
  var headers: HeaderFields

  init(_ status: Int, _ detail: String, _ headers: HeaderFields = [:]) {
    self.status = status
    self.detail = detail
    self.headers = headers
  }

  /// The standard's name of the status.
  var title: String { Self.title(of: status) }

  static func title(of status: Int) -> String {
    switch status {
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 406: "Not Acceptable"
    case 408: "Request Timeout"
    case 409: "Conflict"
    case 410: "Gone"
    case 413: "Content Too Large"
    case 414: "URI Too Long"
    case 415: "Unsupported Media Type"
    case 416: "Range Not Satisfiable"
    case 422: "Unprocessable Content"
    case 429: "Too Many Requests"
    case 431: "Request Header Fields Too Large"
    case 501: "Not Implemented"
    case 503: "Service Unavailable"
    case 504: "Gateway Timeout"
    default: "Internal Server Error"
    }
  }
}
