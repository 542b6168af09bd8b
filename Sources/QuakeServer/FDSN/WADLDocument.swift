/// The description of the event service in WADL. ObsPy reads it, and offers only what it lists.
enum WADLDocument {
  static func text(baseURL: String) -> String {
    // The address was checked: it has no character that XML reserves.
    var lines = [
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <application xmlns="http://wadl.dev.java.net/2009/02" xmlns:q="http://quakeml.org/xmlns/quakeml/1.2" \
      xmlns:xs="http://www.w3.org/2001/XMLSchema">
      <resources base="\(baseURL)\(FDSNService.path)/">
      """
    ]
    for (path, type) in [
      ("version", "text/plain"), ("catalogs", "application/xml"),
      ("contributors", "application/xml"),
      ("application.wadl", "application/xml"), ("application.json", "application/json"),
    ] {
      lines += [
        "<resource path=\"\(path)\"><method id=\"\(path)\" name=\"GET\"><response status=\"200\">"
          + "<representation mediaType=\"\(type)\"/></response></method></resource>"
      ]
    }
    for path in ["query", "count"] {
      lines.append("<resource path=\"\(path)\"><method id=\"\(path)\" name=\"GET\"><request>")
      lines += FDSNParameter.all.map(\.wadl)
      lines += ["</request>", path == "query" ? answers : countAnswers, "</method></resource>"]
    }
    return (lines + ["</resources>", "</application>", ""]).joined(separator: "\n")
  }

  private static let answers = """
    <response status="200">
    <representation mediaType="application/xml" element="q:quakeml"/>
    <representation mediaType="application/json"/>
    <representation mediaType="text/csv"/>
    <representation mediaType="text/plain"/>
    <representation mediaType="application/vnd.google-earth.kml+xml"/>
    </response>
    <response status="204 400 404 409 413 501 503">
    <representation mediaType="text/plain"/>
    </response>
    """

  private static let countAnswers = """
    <response status="200">
    <representation mediaType="text/plain"/>
    <representation mediaType="application/json"/>
    <representation mediaType="application/xml"/>
    </response>
    """
}

extension FDSNParameter {
  fileprivate var wadl: String {
    let preset = preset.map { " default=\"\($0)\"" } ?? ""
    let start = "<param name=\"\(name)\" style=\"query\" type=\"\(kind.rawValue)\"\(preset)"
    guard !choices.isEmpty else { return start + "/>" }
    return start + ">" + choices.map { "<option value=\"\($0)\"/>" }.joined() + "</param>"
  }
}
