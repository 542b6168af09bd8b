import QuakeModel
import Synchronization

/// Answers requests. It handles paths and headers, but not sockets.
///
/// It is used from the server's thread and from the caller's. One lock guards its state.
final class SimulatedService: Sendable {
  /// `http://127.0.0.1:PORT`, which begins every address in a document.
  let baseURL: String
  let options: SimulatorOptions
  private let state: Mutex<SimulatorState>

  init(_ options: SimulatorOptions, baseURL: String) {
    self.options = options
    self.baseURL = baseURL
    state = Mutex(SimulatorState(options))
  }

  /// The catalogue as it is at this moment.
  var catalogue: SimulatedCatalogue {
    state.withLock { state in
      state.catchUp(to: options.now().milliseconds)
      return state.catalogue
    }
  }

  func answer(to request: Request) -> Answer {
    let now = options.now().milliseconds
    var answer = state.withLock { state in
      state.catchUp(to: now)
      let answer = route(request, now: now, &state)
      if request.path.hasPrefix("/fdsnws/") || request.path.hasPrefix("/earthquakes/") {
        state.note(target(of: request), status: answer.status, now: now)
      }
      return answer
    }
    answer.headers.append(("Date", HTTPDate.text(Timestamp(microseconds: now * 1000))))
    return answer
  }

  private func route(_ request: Request, now: Int64, _ state: inout SimulatorState) -> Answer {
    switch (request.method, request.path) {
    case (.get, "/"): return .text(help)
    case (.get, "/state"): return .json(report(state))
    case (.get, "/requests"): return .json(log(state))
    case (.get, "/catalogue.geojson"):
      let document = FeedDocument(
        metadata: FeedDocument.Metadata(
          generated: now, url: baseURL + request.path, title: "Simulated Earthquakes"))
      return .json(document.render(state.catalogue.events.reversed(), .geojson))
    case (.get, "/fdsnws/event/1/query"), (.get, "/fdsnws/event/1/count"):
      return query(request, now: now, &state)
    case (.post, "/fault"): return orderFault(request, &state)
    case (.get, let path):
      if let feed = Self.summary(path) { return summary(feed, request, now: now, &state) }
      return .text("There is nothing here; GET / tells what there is.\n", status: 404)
    case (.post, _), (.other, _):
      var answer = Answer.text("Only GET, and POST of /fault.\n", status: 405)
      answer.headers.append(("Allow", "GET, HEAD, POST"))
      return answer
    }
  }

  // MARK: - Summary feeds

  private static let summaries = "/earthquakes/feed/v1.0/summary/"
  private static let ending = ".geojson"

  func url(of feed: SummaryFeed) -> String { baseURL + Self.summaries + feed.name + Self.ending }

  private static func summary(_ path: String) -> SummaryFeed? {
    guard path.hasPrefix(summaries), path.hasSuffix(ending) else { return nil }
    return SummaryFeed(name: String(path.dropFirst(summaries.count).dropLast(ending.count)))
  }

  private func summary(
    _ feed: SummaryFeed, _ request: Request, now: Int64, _ state: inout SimulatorState
  ) -> Answer {
    if let fault = state.nextFault(options.faults) {
      var events: [SimulatedEvent]
      var generated = now
      if fault == .stale {
        generated -= 20 * 3_600_000
        events = feed.select(
          from: state.first.events.filter { $0.appeared <= generated }, now: generated)
      } else {
        events = feed.select(from: state.catalogue.events, now: now)
      }
      return faulty(fault, events, metadata(feed, generated), .geojson, now: now)
    }

    let cached: SimulatorState.Cached
    if let known = state.cache[feed.name], isFresh(known, now: now, state) {
      cached = known
    } else {
      let events = feed.select(from: state.catalogue.events, now: now)
      let body = FeedDocument(metadata: metadata(feed, now)).render(events, .geojson)
      cached = SimulatorState.Cached(
        body: body, generated: now, steps: state.catalogue.steps,
        validUntil: (events.last?.time).map { $0 + feed.window.milliseconds } ?? .max)
      state.cache[feed.name] = cached
    }
    var answer = Answer(headers: cachingHeaders(generated: cached.generated))
    // A document says when it was made, so that two of one feed differ.
    let tag = "\"\(String(cached.generated, radix: 16))\""
    answer.headers.append(("ETag", tag))
    if request.ifNoneMatch?.contains(tag) == true {
      answer.status = 304
      return answer
    }
    answer.headers.append(("Content-Type", SimulatedFormat.geojson.contentType))
    answer.body = cached.body
    return answer
  }

  private func metadata(_ feed: SummaryFeed, _ generated: Int64) -> FeedDocument.Metadata {
    FeedDocument.Metadata(
      generated: generated, url: url(of: feed), title: "Simulated \(feed.subject)")
  }

  /// A document stays cached while it is fresh, as in a CDN, or while the catalogue has not changed.
  private func isFresh(
    _ cached: SimulatorState.Cached, now: Int64, _ state: SimulatorState
  ) -> Bool {
    guard now >= cached.generated else { return false }
    return now - cached.generated < Int64(options.maxAge) * 1000
      || cached.steps == state.catalogue.steps && now <= cached.validUntil
  }

  private func cachingHeaders(generated: Int64) -> [Answer.Header] {
    [
      ("Last-Modified", HTTPDate.text(Timestamp(microseconds: generated * 1000))),
      ("Cache-Control", "public, max-age=\(options.maxAge)"),
      ("Access-Control-Allow-Origin", "*"),
    ]
  }

  // MARK: - Faults

  private func faulty(
    _ fault: FaultKind, _ events: [SimulatedEvent], _ metadata: FeedDocument.Metadata,
    _ format: SimulatedFormat, now: Int64
  ) -> Answer {
    var events = events
    switch fault {
    case .half: events = events.indices.filter { $0.isMultiple(of: 2) }.map { events[$0] }
    case .garbageTimes:
      for index in events.indices { (events[index].time, events[index].updated) = (2000, 2000) }
    default: break
    }
    var answer = Answer(headers: cachingHeaders(generated: metadata.generated))
    answer.headers.append(("Content-Type", format.contentType))
    answer.body = FeedDocument(metadata: metadata).render(events, format)
    return FaultyAnswer.spoil(answer, fault, retryAfter: max(1, options.maxAge))
  }

  private func orderFault(_ request: Request, _ state: inout SimulatorState) -> Answer {
    guard let name = request.argument("kind"), let kind = FaultKind(rawValue: name) else {
      let known = FaultKind.allCases.map(\.rawValue).joined(separator: ", ")
      return .text("The kind must be one of: \(known).\n", status: 400)
    }
    let count = min(10_000, max(0, Int(request.argument("count") ?? "1") ?? 0))
    state.pendingFaults.append(contentsOf: repeatElement(kind, count: count))
    return .text("\(state.pendingFaults.count)\n")
  }

  // MARK: - What it has done

  private func report(_ state: SimulatorState) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("events", state.catalogue.count)
      writer.member("steps", state.catalogue.steps)
      writer.member("faultyAnswers", state.faultyAnswers)
    }
    return writer.bytes
  }

  private func log(_ state: SimulatorState) -> [UInt8] {
    var writer = JSONWriter()
    writer.array { writer in
      for request in state.log {
        writer.object { writer in
          writer.member("time", request.time)
          writer.member("target", request.target)
          writer.member("status", request.status)
          writer.member("fault", request.fault?.rawValue)
        }
      }
    }
    return writer.bytes
  }

  private var help: String {
    """
    A simulated earthquake feed. Nothing in it ever happened.

    GET  /earthquakes/feed/v1.0/summary/{significant,4.5,2.5,1.0,all}_{hour,day,week,month}.geojson
    GET  /fdsnws/event/1/query?format=geojson|text&starttime=&endtime=&minmagnitude=&limit=&orderby=time|time-asc
    GET  /fdsnws/event/1/count?...
    GET  /catalogue.geojson        every event
    GET  /state                    counts of changes, requests and faults
    GET  /requests                 the last requests of feeds and queries, and their answers
    POST /fault?kind=KIND&count=N  the next N answers of feeds and queries are faulty:
                                   \(FaultKind.allCases.map(\.rawValue).joined(separator: ", "))

    """
  }
}

extension SimulatedService {
  private func query(_ request: Request, now: Int64, _ state: inout SimulatorState) -> Answer {
    let query: SimulatorQuery
    do throws(SimulatorQuery.Refusal) {
      query = try SimulatorQuery(
        request.arguments, now: now, maximumCount: options.queryLimit)
    } catch {
      return refusal(error.reason, request, now: now)
    }
    if !options.takesLimit, query.limit != nil {
      return refusal("\"limit\" is not supported", request, now: now)
    }
    let matching = query.matches(in: state.catalogue.events)
    if request.path.hasSuffix("/count") {
      return count(matching.count, request, &state)
    }
    let events = query.page(of: matching)
    if events.count > options.queryLimit {
      return refusal(
        "\(events.count) matching events exceeds search limit of \(options.queryLimit)."
          + " Modify the search to match fewer events.", request, now: now)
    }
    if events.isEmpty { return Answer(status: 204) }
    let format = query.format ?? .geojson
    let metadata = FeedDocument.Metadata(
      generated: now, url: baseURL + target(of: request), title: "Simulated Earthquakes")
    if let fault = state.nextFault(options.faults) {
      return faulty(fault, events, metadata, format, now: now)
    }
    var answer = Answer(headers: [("Content-Type", format.contentType)])
    answer.body = FeedDocument(metadata: metadata).render(events, format)
    return answer
  }

  private func count(
    _ count: Int, _ request: Request, _ state: inout SimulatorState
  ) -> Answer {
    guard options.answersCounts else { return .text("Error 404: Not Found\n", status: 404) }
    let answer = Answer.text("\(count)")
    guard let fault = state.nextFault(options.faults) else { return answer }
    return FaultyAnswer.spoil(answer, fault, retryAfter: max(1, options.maxAge))
  }

  private func target(of request: Request) -> String {
    let arguments = request.arguments.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    return request.path + (arguments.isEmpty ? "" : "?" + arguments)
  }

  private func refusal(_ reason: String, _ request: Request, now: Int64) -> Answer {
    .text(
      """
      Error 400: Bad Request

      \(reason)

      Usage details are available from \(baseURL)/

      Request:
      \(target(of: request))

      Request Submitted:
      \(Timestamp(microseconds: now * 1000))

      Service version:
      1.14.1

      """, status: 400)
  }
}
