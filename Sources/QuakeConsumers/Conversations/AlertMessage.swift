package import QuakeModel

extension Message {
  /// The message that tells of an alert.
  package init(_ alert: Alert) {
    let text = alert.text
    self.init(alert, text: text, data: Self.data(alert, text))
  }

  /// The message that a server has made of an alert.
  package init(_ alert: Alert, text: String, data: String) {
    self.init(
      id: alert.id, kind: alert.kind, subject: alert.conversation, token: alert.token,
      variables: Self.variables(alert, text), data: data)
  }

  private static func variables(_ alert: Alert, _ text: String) -> [Variable] {
    var variables: [Variable] = []
    func set(_ name: String, _ value: String?) {
      guard let value, !value.isEmpty else { return }
      variables.append(Variable(name: name, value: Alert.line(value)))
    }
    let present = alert.present
    set("QUAKE_TOKEN", "\(alert.token)")
    set("QUAKE_ID", alert.id)
    set("QUAKE_AT", "\(alert.at)")
    set("QUAKE_ALERT", alert.kind.rawValue)
    set("QUAKE_CONVERSATION", alert.conversation)
    set("QUAKE_SUPERSEDES", alert.supersedes)
    set("QUAKE_MERGED_INTO", alert.mergedInto)
    set("QUAKE_CODE", present?.code)
    set("QUAKE_MAGNITUDE", present?.magnitude.map { "\($0)" })
    set("QUAKE_OLD_MAGNITUDE", alert.told?.magnitude.map { "\($0)" })
    set("QUAKE_PLACE", present?.place)
    set("QUAKE_TIME", present?.time.map { "\($0)" })
    set("QUAKE_LATITUDE", present?.latitude.map { "\($0)" })
    set("QUAKE_LONGITUDE", present?.longitude.map { "\($0)" })
    set("QUAKE_DEPTH", present?.depth.map { "\($0)" })
    set("QUAKE_URL", alert.event?.pageAddress)
    set("QUAKE_TEXT", text)
    return variables
  }

  private static func data(_ alert: Alert, _ text: String) -> String {
    var json = JSONWriter()
    json.object { json in
      json.member("id", alert.id)
      json.member("alert", alert.kind.rawValue)
      json.member("conversation", alert.conversation)
      json.member("number", alert.number)
      json.member("supersedes", alert.supersedes)
      json.member("merged_into", alert.mergedInto)
      json.member("code", alert.present?.code)
      json.member("token", "\(alert.token)")
      json.member("at", alert.at)
      json.member("text", text)
      json.key("event")
      if let event = alert.event { json.quake(event, drain: { _ in }) } else { json.null() }
      json.key("told")
      if let told = alert.told { write(told, &json) } else { json.null() }
    }
    return String(decoding: json.bytes, as: UTF8.self)
  }

  private static func write(_ told: Alert.Told, _ json: inout JSONWriter) {
    json.object { json in
      json.member("code", told.code)
      json.member("time", told.time)
      json.member("magnitude", told.magnitude)
      json.member("depth", told.depth)
      json.member("latitude", told.latitude)
      json.member("longitude", told.longitude)
      json.member("place", told.place)
      json.member("agency", told.agency)
    }
  }
}

extension EventRecord {
  /// The address of the event's page. Any other text that a writer stored in its place is left out, so that programs
  /// may open the address.
  package var pageAddress: String? {
    guard let url, url.utf8.count <= 4096, url.hasPrefix("https://") || url.hasPrefix("http://"),
      url.utf8.allSatisfy({ (0x21..<0x7F).contains($0) })
    else { return nil }
    return url
  }
}
