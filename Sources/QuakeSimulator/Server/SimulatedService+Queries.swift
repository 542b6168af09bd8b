import QuakeModel

/// The FDSN event service.
extension SimulatedService {
  func query(_ request: Request, now: Int64, _ state: inout SimulatorState) -> Answer {
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
      generated: now, url: baseURL + target(of: request), title: "Simulated Earthquakes",
      limit: query.limit)
    if let fault = state.nextFault(options.faults) {
      return faulty(fault, events, metadata, format, request, now: now)
    }
    var answer = Answer(headers: [Answer.Header("Content-Type", format.contentType)])
    answer.body = FeedDocument(metadata: metadata).render(events, format)
    if request.acceptsGzip, let compressed = Gzip.compress(answer.body) {
      answer.body = compressed
      answer.headers.append(Answer.Header("Content-Encoding", "gzip"))
    }
    return answer
  }

  private func count(
    _ count: Int, _ request: Request, _ state: inout SimulatorState
  ) -> Answer {
    guard options.answersCounts else { return .text("Error 404: Not Found\n", status: 404) }
    let answer = Answer.text("\(count)")
    guard let fault = state.nextFault(options.faults) else { return answer }
    return FaultyAnswer.spoil(
      answer, fault, acceptsGzip: request.acceptsGzip, retryAfter: max(1, options.maxAge))
  }

  /// The path and the query.
  func target(of request: Request) -> String {
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
