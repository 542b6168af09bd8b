import CMicrohttpd
import Compression
import Glibc

/// The objects that the callbacks of libmicrohttpd need; the server keeps them until the daemon has stopped.
final class SimulatorContext: Sendable {
  let service: SimulatedService
  let stalled = StalledConnections()

  init(_ service: SimulatedService) {
    self.service = service
  }
}

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
  let context = Unmanaged<SimulatorContext>.fromOpaque(closure).takeUnretainedValue()
  context.stalled.releaseDeparted()
  let request = readRequest(connection, path: String(cString: url), method: String(cString: method))
  return queue(context.service.answer(to: request), on: connection, context)
}

private func readRequest(_ connection: OpaquePointer, path: String, method: String) -> Request {
  func header(_ name: String) -> String? {
    MHD_lookup_connection_value(connection, .HEADER_KIND, name).map { String(cString: $0) }
  }
  var request = Request(
    method: method == "GET" || method == "HEAD" ? .get : method == "POST" ? .post : .other,
    path: path)
  request.acceptsGzip = AcceptEncoding.acceptsGzip(header("Accept-Encoding"))
  request.ifNoneMatch = header("If-None-Match")
  request.ifModifiedSince = header("If-Modified-Since")
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

private func queue(
  _ answer: Answer, on connection: OpaquePointer, _ context: SimulatorContext
) -> MHD_Result {
  let response: OpaquePointer?
  if answer.delivery == .whole {
    response = answer.body.withUnsafeBytes { bytes in
      MHD_create_response_from_buffer(
        bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
    }
  } else {
    let body = PartialBody(answer, connection, context.stalled)
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
  let bytes: [UInt8]
  /// How much of it is sent.
  let end: Int
  /// Whether nothing follows, rather than the connection's end.
  let stalls: Bool
  let connection: OpaquePointer
  let stalled: StalledConnections
  var wasSuspended = false

  init(_ answer: Answer, _ connection: OpaquePointer, _ stalled: StalledConnections) {
    bytes = answer.body
    switch answer.delivery {
    case .whole:
      end = answer.body.count
      stalls = false
    case .closed(let after):
      end = after
      stalls = false
    case .stalled(let after):
      end = after
      stalls = true
    }
    self.connection = connection
    self.stalled = stalled
  }
}

/// Gives libmicrohttpd the next bytes; 0 after suspending means "later".
private func readPartialBody(
  _ closure: UnsafeMutableRawPointer?, _ position: UInt64,
  _ buffer: UnsafeMutablePointer<CChar>?, _ capacity: Int
) -> Int {
  guard let closure, let buffer else { return quake_mhd_end_with_error }
  let body = Unmanaged<PartialBody>.fromOpaque(closure).takeUnretainedValue()
  let start = Int(position)
  if start < body.end {
    let count = min(capacity, body.end - start)
    body.bytes.withUnsafeBytes { bytes in
      if let base = bytes.baseAddress { memcpy(buffer, base + start, count) }
    }
    return count
  }
  // Resumed: the client has left, or the server stops.
  guard body.stalls, !body.wasSuspended, body.stalled.suspend(body.connection) else {
    return quake_mhd_end_with_error
  }
  body.wasSuspended = true
  return 0
}
