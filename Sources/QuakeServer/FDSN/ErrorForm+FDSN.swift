import QuakeModel

extension ErrorForm {
  /// The text that USGS's event service sends; if the client asks for `jsonerror`, a GeoJSON document with
  /// status 200.
  static let fdsn = ErrorForm(mediaType: "text/plain") { error, request, arrived in
    func has(_ name: String, _ value: String) -> Bool {
      request.query.last { $0.name == name }?.value == value
    }
    // After any other status the client has to try again, and status 200 would hide that.
    let isAnswer = [400, 404, 409, 501].contains(error.status)
    if isAnswer, has("jsonerror", "true"),
      has("format", "geojson") || request.parameters["format"] == "geojson"
    {
      return json(error, request, arrived)
    }
    let time = "\(arrived)".prefix(19)
    return .text(
      """
      Error \(error.status): \(error.title)

      \(error.detail)

      Usage details are available from \(request.baseURL)\(FDSNService.path)/

      Request:
      \(request.target)

      Request Submitted:
      \(time)+00:00

      Service version:
      \(FDSNService.version)

      """, status: error.status, error.headers)
  }

  private static func json(_ error: HTTPError, _ request: Request, _ arrived: Timestamp) -> Response
  {
    let isDetail =
      error.status != 400 && request.query.contains { $0.name == "eventid" && !$0.value.isEmpty }
    var json = JSONWriter()
    json.object { json in
      json.key("type")
      json.string(isDetail ? "Feature" : "FeatureCollection")
      json.key("metadata")
      json.object { json in
        json.key("status")
        json.integer(error.status)
        json.key("generated")
        json.integer(Int(arrived.microseconds / 1000))
        json.key("url")
        json.string(request.baseURL + request.target)
        json.key("title")
        json.string("Search Error")
        json.key("api")
        json.string(FDSNService.version)
        json.key("count")
        json.integer(0)
        json.key("error")
        json.string(error.detail)
      }
      json.key(isDetail ? "properties" : "features")
      if isDetail { json.null() } else { json.array { _ in } }
    }
    return Response(
      200, error.headers,
      body: .document(Document(json.take(), contentType: "application/json; charset=utf-8")))
  }
}
