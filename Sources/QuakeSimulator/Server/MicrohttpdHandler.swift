import CMicrohttpd
import Glibc

/// Answers a request; libmicrohttpd calls it on its own thread.
///
/// It is called once when the headers are there, then for each piece of a body, then once more: the
/// answer is queued only then, since a POST may not be answered before its body has been read.
func handleRequest(
  _ closure: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
  _ url: UnsafePointer<CChar>?, _ method: UnsafePointer<CChar>?, _: UnsafePointer<CChar>?,
  _: UnsafePointer<CChar>?, _ uploadSize: UnsafeMutablePointer<Int>?,
  _ requestState: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
  guard let closure, let connection, let url, let method, let uploadSize, let requestState else {
    return .NO
  }
  if requestState.pointee == nil {
    requestState.pointee = closure  // anything but nil: the headers have been seen
    return .YES
  }
  if uploadSize.pointee > 0 {
    uploadSize.pointee = 0  // the simulator ignores bodies
    return .YES
  }
  let service = Unmanaged<SimulatedService>.fromOpaque(closure).takeUnretainedValue()
  let request = readRequest(connection, path: String(cString: url), method: String(cString: method))
  return queue(service.answer(to: request), on: connection)
}

private func readRequest(_ connection: OpaquePointer, path: String, method: String) -> Request {
  var request = Request(
    method: method == "GET" || method == "HEAD" ? .get : method == "POST" ? .post : .other,
    path: path)
  request.ifNoneMatch = MHD_lookup_connection_value(connection, .HEADER_KIND, "If-None-Match")
    .map { String(cString: $0) }
  withUnsafeMutablePointer(to: &request.arguments) { arguments in
    _ = MHD_get_connection_values(
      connection, .GET_ARGUMENT_KIND,
      { closure, _, name, value in
        guard let closure, let name else { return .YES }
        closure.assumingMemoryBound(to: [Request.Argument].self).pointee.append(
          Request.Argument(
            name: String(cString: name), value: value.map { String(cString: $0) } ?? ""))
        return .YES
      }, arguments)
  }
  return request
}

private func queue(_ answer: Answer, on connection: OpaquePointer) -> MHD_Result {
  let response: OpaquePointer?
  if answer.sentBytes == nil {
    response = answer.body.withUnsafeBytes { bytes in
      MHD_create_response_from_buffer(
        bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
    }
  } else {
    let body = PartialBody(answer)
    let size = UInt64(answer.body.count)
    let closure = Unmanaged.passRetained(body).toOpaque()
    response = MHD_create_response_from_callback(
      size, 65_536, { readPartialBody($0, $1, $2, $3) }, closure,
      { closure in
        if let closure { Unmanaged<PartialBody>.fromOpaque(closure).release() }
      })
    if response == nil { Unmanaged<PartialBody>.fromOpaque(closure).release() }
  }
  guard let response else { return .NO }
  defer { MHD_destroy_response(response) }
  for header in answer.headers {
    _ = MHD_add_response_header(response, header.name, header.value)
  }
  return MHD_queue_response(connection, answer.status, response)
}

/// A body of which only the beginning is sent.
///
/// Touched only by libmicrohttpd's one thread, which asks for the bytes and frees the response; what
/// is left when the server stops is freed after that thread has ended.
private final class PartialBody {
  let bytes: ArraySlice<UInt8>

  init(_ answer: Answer) {
    bytes = answer.body.prefix(answer.sentBytes ?? answer.body.count)
  }
}

/// Gives libmicrohttpd the next bytes, and after the last one an error, with which it closes the connection.
private func readPartialBody(
  _ closure: UnsafeMutableRawPointer?, _ position: UInt64,
  _ buffer: UnsafeMutablePointer<CChar>?, _ capacity: Int
) -> Int {
  guard let closure, let buffer else { return quake_mhd_end_with_error }
  let rest = Unmanaged<PartialBody>.fromOpaque(closure).takeUnretainedValue().bytes
    .dropFirst(Int(position)).prefix(capacity)
  rest.withUnsafeBytes { bytes in
    if let base = bytes.baseAddress { memcpy(buffer, base, bytes.count) }
  }
  return rest.isEmpty ? quake_mhd_end_with_error : rest.count
}

/// A request, as far as the service looks at it.
struct Request: Sendable {
  enum Method: Sendable {
    /// GET or HEAD.
    case get
    case post
    case other
  }

  /// One `name=value` of the query, decoded.
  struct Argument: Sendable {
    var name: String
    var value: String
  }

  var method: Method
  var path: String
  var arguments: [Argument] = []
  var ifNoneMatch: String?

  /// The value of the last argument of that name.
  func argument(_ name: String) -> String? {
    arguments.last { $0.name == name }?.value
  }
}

/// An answer, before it becomes one of libmicrohttpd's.
struct Answer: Sendable {
  typealias Header = (name: String, value: String)

  var status: UInt32 = 200
  var headers: [Header] = []
  var body: [UInt8] = []
  /// How much of the body is sent before the connection is closed; nil: all.
  var sentBytes: Int?

  static func text(_ text: String, status: UInt32 = 200) -> Answer {
    Answer(
      status: status, headers: [("Content-Type", "text/plain; charset=utf-8")],
      body: Array(text.utf8))
  }

  static func json(_ bytes: [UInt8]) -> Answer {
    Answer(headers: [("Content-Type", "application/json; charset=utf-8")], body: bytes)
  }
}
