import Basics
import CMicrohttpd
import CPage
import Glibc
import Synchronization

// The functions that libmicrohttpd calls. They are free functions, because C can call nothing else.

private func context(_ closure: UnsafeMutableRawPointer) -> MicrohttpdContext {
  Unmanaged<MicrohttpdContext>.fromOpaque(closure).takeUnretainedValue()
}

/// The numeric address of a client, without its port; an IPv4 address in IPv6 form as IPv4.
private func text(of address: UnsafePointer<sockaddr>) -> String {
  let length = socklen_t(
    address.pointee.sa_family == sa_family_t(AF_INET6)
      ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size)
  var host = [CChar](repeating: 0, count: 64)
  guard getnameinfo(address, length, &host, 64, nil, 0, NI_NUMERICHOST) == 0 else { return "" }
  return AddressGroup.plain(
    String(decoding: host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
}

func acceptConnection(
  _ closure: UnsafeMutableRawPointer?, _ address: UnsafePointer<sockaddr>?, _: socklen_t
) -> MHD_Result {
  guard let closure, let address else { return .NO }
  return context(closure).service.limits.open(text(of: address)) ? .YES : .NO
}

/// A connection has been opened, or is about to be closed.
func connectionChanged(
  _ closure: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
  _ stored: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ event: MHD_ConnectionNotificationCode
) {
  guard let closure, let connection, let stored else { return }
  let context = context(closure)
  if event == .CONNECTION_NOTIFY_STARTED {
    let address = quake_mhd_client_address(connection).map(text) ?? ""
    let record = ConnectionRecord(
      descriptor: quake_mhd_connection_socket(connection), address: address,
      requestTimeout: context.requestTimeout)
    context.connections.add(record)
    stored.pointee = Unmanaged.passRetained(record).toOpaque()
  } else if let pointer = stored.pointee {
    stored.pointee = nil
    let record = Unmanaged<ConnectionRecord>.fromOpaque(pointer).takeRetainedValue()
    record.isClosing()
    context.connections.remove(record)
    context.service.limits.close(record.address)
  }
}

private func record(of connection: OpaquePointer) -> ConnectionRecord? {
  quake_mhd_socket_context(connection).map {
    Unmanaged<ConnectionRecord>.fromOpaque($0).takeUnretainedValue()
  }
}

/// libmicrohttpd cannot read a request: its connection gets an answer of ours, and then ends.
func refuseUnreadable(_ record: UnsafeMutableRawPointer?, _ status: UInt32) {
  guard let record else { return }
  let detail =
    switch status {
    case 413: "The length of the body, or of a part of it, is too large."
    case 414: "The address of the request is too long."
    case 431: "The header of the request is too long."
    case 505: "The server reads HTTP/1.0 and HTTP/1.1 only."
    default: "The request is not HTTP: its first line, a header field or a length has a wrong form."
    }
  Unmanaged<ConnectionRecord>.fromOpaque(record).takeUnretainedValue().refuse(
    HTTPError(Int(status), detail))
}

/// The most bytes of the path and the query of a request.
private let longestTarget = 2900

/// The first line of a request has arrived. The result is stored with the request, until `completeRequest`.
func beginRequest(
  _: UnsafeMutableRawPointer?, _ target: UnsafePointer<CChar>?, _ connection: OpaquePointer?
) -> UnsafeMutableRawPointer? {
  guard let target, let connection else { return nil }
  let record = record(of: connection)
  if strlen(target) > longestTarget {
    // Beside a longer one libmicrohttpd lacks the memory for an answer, and closes the connection without one. It reads
    // on nevertheless.
    hideQuery(target)
    record?.refuse(HTTPError(414, "The address of the request is too long."))
    return nil
  }
  record?.requestBegins()
  // A target that is not UTF-8 gets replacement characters, which no route has.
  let exchange = Exchange(
    target: String(cString: target), place: UInt(bitPattern: target), length: strlen(target))
  hideQuery(target)
  return Unmanaged.passRetained(exchange).toOpaque()
}

/// Keeps libmicrohttpd from parsing the query of a target, which lies in its own buffer for the connection.
///
/// It would store each parameter in the connection's memory. When that is full, version 0.9.75 loses the error
/// that it has begun to send, and the client never gets an answer; if the error is refused, it ends the connection, goes
/// on with it, and so ends the program. Nothing reads the library's form of the target later.
private func hideQuery(_ target: UnsafePointer<CChar>) {
  guard let mark = strchr(target, 0x3F), mark[1] != 0 else { return }
  // The text of the query is empty.
  mark[1] = 0
}

/// A request has ended: it was answered, or its connection ended.
func completeRequest(
  _ closure: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
  _ stored: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _: MHD_RequestTerminationCode
) {
  guard let closure, let connection, let pointer = stored?.pointee else { return }
  stored?.pointee = nil
  let exchange = Unmanaged<Exchange>.fromOpaque(pointer).takeRetainedValue()
  let context = context(closure)
  let record = record(of: connection)
  record?.answerIsSent(requestTimeout: context.requestTimeout)
  exchange.state.withLock { state in
    guard let request = state.request else { return }
    context.service.observer.completed(
      EventServer.AccessRecord(
        method: request.method.rawValue, target: exchange.target, client: request.client,
        status: state.status, size: state.sentSize, duration: MonotonicClock.now() - exchange.begun,
        userAgent: request.headers["user-agent"], route: state.match?.route.path))
  }
}

/// Handles a request: it is called once when the header is there, then for each part of a body, then once more,
/// and again after a suspended connection was resumed.
func handleRequest(
  _ closure: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
  _: UnsafePointer<CChar>?, _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?,
  _ part: UnsafePointer<CChar>?, _ size: UnsafeMutablePointer<Int>?,
  _ stored: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
  guard let closure, let connection, let method, let size, let pointer = stored?.pointee else {
    return .NO
  }
  let exchange = Unmanaged<Exchange>.fromOpaque(pointer).takeUnretainedValue()
  let context = context(closure)
  switch exchange.state.withLock({ $0.phase }) {
  case .new:
    guard let version else { return .NO }
    readHeader(exchange, method, version, connection, context)
    // The answer does not wait for a body that is refused, or whose end is not clear.
    let isLast = exchange.state.withLock { $0.failure?.headers["connection"] == "close" }
    return isLast ? answer(exchange, connection, context) : .YES
  case .reading:
    guard size.pointee > 0 else {
      checkTrailer(exchange, connection)
      return answer(exchange, connection, context)
    }
    defer { size.pointee = 0 }
    return readBody(exchange, UnsafeRawBufferPointer(start: part, count: size.pointee), context)
  case .working:
    // The server stops before the answer is there.
    return .NO
  case .answered:
    return queue(exchange, on: connection, context)
  case .sending:
    return .NO
  }
}

/// The fields of a header, and how they lie in the memory of libmicrohttpd.
private struct ReceivedHeader {
  var fields = HeaderFields()
  var layout: HeaderLayout
}

private func readHeader(
  _ exchange: Exchange, _ methodText: UnsafePointer<CChar>, _ version: UnsafePointer<CChar>,
  _ connection: OpaquePointer, _ context: MicrohttpdContext
) {
  var header = ReceivedHeader(
    layout: HeaderLayout(
      method: methodText, target: exchange.place, targetLength: exchange.length, version: version))
  withUnsafeMutablePointer(to: &header) { header in
    _ = MHD_get_connection_values(
      connection, .HEADER_KIND,
      { closure, _, name, value in
        guard let closure, let name, let value else { return .YES }
        let header = closure.assumingMemoryBound(to: ReceivedHeader.self)
        header.pointee.fields.append(String(cString: name), String(cString: value))
        header.pointee.layout.add(name: name, value: value)
        return .YES
      }, header)
  }
  // A later version is read like 1.1.
  let isOld = strcmp(version, "HTTP/1.0") == 0
  let method = String(cString: methodText)
  let end = methodText + quake_mhd_header_size(connection)
  let isWhole = !HeaderLayout.isNeeded || header.layout.isWhole(endingAt: end)
  let problem =
    exchange.target.utf8.contains(0x20) || !isWhole
    ? "The header has a zero byte, a misplaced blank, a field on more than one line, or a line without CRLF."
    : HeaderFraming.problem(ofMethod: method)
      ?? HeaderFraming.problem(of: header.fields, isOld: isOld)
  // HTTP/1.0 cannot change to another protocol.
  if isOld { header.fields.remove("upgrade") }
  let address = record(of: connection)?.address ?? ""
  let (request, match, failure) = context.service.read(
    method: method, target: exchange.target, headers: header.fields,
    address: address)
  exchange.state.withLock { state in
    state.request = request
    state.match = match
    state.failure = problem.map { HTTPError(400, $0, ["Connection": "close"]) } ?? failure
    state.fieldCount = header.fields.fields.count
    state.isChunked = header.fields["transfer-encoding"] != nil
    state.phase = .reading
  }
}

/// Refuses fields after a body in chunks that say where a body ends, or for whom it is.
private func checkTrailer(_ exchange: Exchange, _ connection: OpaquePointer) {
  guard exchange.state.withLock({ $0.isChunked }) else { return }
  var fields = HeaderFields()
  withUnsafeMutablePointer(to: &fields) { fields in
    _ = MHD_get_connection_values(
      connection, .FOOTER_KIND,
      { closure, _, name, value in
        guard let closure, let name, let value else { return .YES }
        closure.assumingMemoryBound(to: HeaderFields.self).pointee.append(
          String(cString: name), String(cString: value))
        return .YES
      }, fields)
  }
  guard let problem = HeaderFraming.problem(ofTrailer: fields) else { return }
  exchange.state.withLock { $0.failure = HTTPError(400, problem) }
}

private func readBody(
  _ exchange: Exchange, _ part: UnsafeRawBufferPointer, _ context: MicrohttpdContext
) -> MHD_Result {
  exchange.state.withLock { state in
    state.bodySize += part.count
    do throws(HTTPError) {
      try context.service.checkBody(state.bodySize)
      state.request?.body.append(contentsOf: part)
      return .YES
    } catch {
      // libmicrohttpd takes no answer in the middle of a body: the rest is dropped, up to a limit.
      state.failure = error
      state.request?.body = []
      return state.bodySize <= 16 << 20 ? .YES : .NO
    }
  }
}

private func answer(
  _ exchange: Exchange, _ connection: OpaquePointer, _ context: MicrohttpdContext
) -> MHD_Result {
  record(of: connection)?.requestIsComplete()
  let (request, match, failure) = exchange.state.withLock { state in
    state.phase = .working
    return (state.request, state.match, state.failure)
  }
  guard let request else { return .NO }
  let place = UInt(bitPattern: connection)
  let suspended = context.suspended
  var isStopping = false
  let now = context.service.answer(
    request, match, failure, arrived: exchange.arrived,
    wait: {
      isStopping = !suspended.suspend(connection)
      return !isStopping
    },
    later: { response in
      exchange.state.withLock { state in
        state.response = response
        state.phase = .answered
      }
      suspended.resume(place)
    })
  guard let now else { return isStopping ? .NO : .YES }
  exchange.state.withLock { $0.response = now }
  return queue(exchange, on: connection, context)
}

private func queue(
  _ exchange: Exchange, on connection: OpaquePointer, _ context: MicrohttpdContext
) -> MHD_Result {
  let (request, response, isChunked) = exchange.state.withLock {
    ($0.request, $0.response, $0.isChunked)
  }
  guard let request, let response else { return .NO }
  var reply = Reply(response, to: request)
  // The library also reads chunks whose lines end without a carriage return, where a proxy may see another end of the
  // body. What follows one is not read.
  if isChunked { reply.headers.appendIfAbsent("Connection", "close") }
  guard hasMemory(for: reply, to: exchange, on: connection, context) else {
    let reason =
      reply.headers["link"] == nil
      ? "The header of the request is too long: it leaves no memory for that of an answer."
      : "The address of the request is too long for an answer with more pages, whose header repeats it. Name fewer values, or set a greater limit."
    record(of: connection)?.refuse(HTTPError(431, reason))
    exchange.state.withLock { $0.status = 431 }
    return .NO
  }
  guard let made = makeResponse(reply, exchange, connection, context) else { return .NO }
  defer { MHD_destroy_response(made) }
  for field in reply.headers.fields {
    _ = MHD_add_response_header(made, field.name, field.value)
  }
  exchange.state.withLock { state in
    state.phase = .sending
    state.releaseRequest()
    state.status = reply.status
    switch reply.body {
    case .none, .unsent: state.sentSize = 0
    case .part(_, let range): state.sentSize = request.method == .head ? 0 : range.count
    case .stream, .upgrade: state.sentSize = nil
    }
  }
  let isQueued = quake_mhd_queue_response(
    UnsafeMutableRawPointer(connection), UInt32(reply.status), UnsafeMutableRawPointer(made))
  return isQueued == 0 ? .NO : .YES
}

/// Whether the header of an answer fits into the connection's memory, beside that of the request. If it does not,
/// libmicrohttpd closes the connection without a word.
private func hasMemory(
  for reply: Reply, to exchange: Exchange, on connection: OpaquePointer,
  _ context: MicrohttpdContext
) -> Bool {
  // What the library takes for a field of a request, and adds to an answer: the status, the date, the length.
  let (perField, added) = (64, 112)
  let received =
    quake_mhd_header_size(connection) + exchange.state.withLock { $0.fieldCount } * perField
  let sent = reply.headers.fields.reduce(added) {
    $0 + $1.name.utf8.count + $1.value.utf8.count + 4
  }
  return received + sent <= context.connectionMemory
}

private func makeResponse(
  _ reply: Reply, _ exchange: Exchange, _ connection: OpaquePointer, _ context: MicrohttpdContext
) -> OpaquePointer? {
  switch reply.body {
  case .none:
    return MHD_create_response_from_buffer(0, nil, .RESPMEM_PERSISTENT)
  case .unsent(let size):
    // libmicrohttpd states the size, and never asks for the bytes.
    return MHD_create_response_from_callback(
      UInt64(size), 64, { _, _, _, _ in quake_mhd_end_with_error }, nil, nil)
  case .part(let document, let range):
    switch document.content {
    case .file(let file):
      // libmicrohttpd closes its own descriptor of the file.
      let copy = fcntl(file.descriptor, F_DUPFD_CLOEXEC, 0)
      guard copy >= 0 else { return nil }
      exchange.state.withLock { $0.document = document }
      return MHD_create_response_from_fd_at_offset64(
        UInt64(range.count), copy, UInt64(range.lowerBound))
    case .bytes:
      return makeResponse(document, range)
    }
  case .stream(let begin):
    let body = StreamBody(connection, context.suspended, begin)
    let closure = Unmanaged.passRetained(body).toOpaque()
    let made = MHD_create_response_from_callback(
      quake_mhd_size_unknown, 64, { closure, _, _, _ in readStream(closure) }, closure,
      { closure in
        if let closure { Unmanaged<StreamBody>.fromOpaque(closure).release() }
      })
    guard let made else {
      Unmanaged<StreamBody>.fromOpaque(closure).release()
      return nil
    }
    body.belongs(to: made)
    // Without chunks, so that one encoding of a change is for all clients.
    _ = quake_mhd_end_with_connection(made)
    return made
  case .upgrade(let begin):
    let upgrade = Upgrade(begin)
    exchange.state.withLock { $0.upgrade = upgrade }
    let made = MHD_create_response_for_upgrade(
      { closure, _, _, received, size, socket, handle in
        guard let closure, let handle else { return }
        let upgrade = Unmanaged<Upgrade>.fromOpaque(closure).takeUnretainedValue()
        upgrade.begin(socket, received, size, handle)
      }, Unmanaged.passUnretained(upgrade).toOpaque())
    return made
  }
}

/// A response with a part of the bytes of a document, which it keeps alive.
private func makeResponse(_ document: Document, _ range: Range<Int>) -> OpaquePointer? {
  guard case .bytes(let bytes) = document.content else { return nil }
  // An array's memory stays where it is while the array is not changed, and a document does not change. The
  // document is released when the response is freed.
  let place = bytes.withUnsafeBytes { $0.baseAddress }
  guard let place, !range.isEmpty else {
    return MHD_create_response_from_buffer(0, nil, .RESPMEM_PERSISTENT)
  }
  return MHD_create_response_from_buffer_with_free_callback_cls(
    range.count, UnsafeMutableRawPointer(mutating: place + range.lowerBound),
    { closure in
      if let closure { Unmanaged<Document>.fromOpaque(closure).release() }
    }, Unmanaged.passRetained(document).toOpaque())
}

/// Called by libmicrohttpd for the next bytes of a stream: first after the header has been sent, when the socket
/// is handed over; then after the socket was handed back.
private func readStream(_ closure: UnsafeMutableRawPointer?) -> Int {
  guard let closure else { return quake_mhd_end_with_error }
  let body = Unmanaged<StreamBody>.fromOpaque(closure).takeUnretainedValue()
  return body.begin() ? 0 : quake_mhd_end_of_stream
}
