import CPage
import QuakeModel

/// The live page: `/`, `/embed`, their files under `/assets`, and what they need to know of the server.
struct PageService: Sendable {
  private let settings: PageSettings
  private let assets: PageAssets
  private let takesEdits: Bool
  private let version: String
  /// The policies of `/` and the files, and of `/embed`.
  private let policy: String
  private let embeddedPolicy: String

  /// - Parameters:
  ///   - takesEdits: Whether the server has tokens for edits.
  ///   - version: The version of the server.
  init(_ settings: PageSettings, takesEdits: Bool, version: String) throws {
    self.settings = settings
    self.takesEdits = takesEdits
    self.version = version
    assets = try PageAssets()
    let tiles = settings.tiles?.origin.map { " \($0)" } ?? ""
    let common = """
      default-src 'none'; script-src 'self'; style-src 'self'; worker-src 'self'; connect-src 'self'; \
      img-src 'self' data:\(tiles); base-uri 'none'; form-action 'none'
      """
    policy = "\(common); frame-ancestors 'none'"
    embeddedPolicy = "\(common); frame-ancestors *"
  }

  /// The addresses that people and other programs may use.
  var routes: [Route] {
    [
      page(
        "/", "index.html", policy, "showPage", "the live page, for people",
        "The filters of the page are in its address, so that a view can be shared."),
      page(
        "/embed", "embed.html", embeddedPolicy, "showMap", "the map of the live page, for frames",
        "Pages of other sites may show it in a frame. It has the filters of the page."),
      Route(
        method: .get, path: "/page/settings",
        operation: Operation(
          "pageSettings", "what the page needs to know of the server", tag: "page",
          answers: [.json(200, "The settings.", "PageSettings")]),
        handler: .immediate { _ in describe() }),
    ]
  }

  /// The files of the page, whose addresses are different in each version.
  var assetRoutes: [Route] {
    ["/assets/{hash}/{file}", "/assets/{hash}/{folder}/{file}"].map { path in
      Route(
        method: .get, path: path,
        operation: Operation("pageAsset", "a file of the page", tag: "page"),
        handler: .immediate { try asset($0) })
    }
  }

  private func page(
    _ path: String, _ file: String, _ policy: String, _ id: String, _ summary: String,
    _ description: String
  ) -> Route {
    Route(
      method: .get, path: path,
      operation: Operation(
        id, summary, tag: "page", description: description,
        answers: [.init(200, "The page.", ["text/html"])]),
      handler: .immediate { _ in
        guard let document = assets.documents[file] else { throw Self.missing }
        return Response(
          200, ["Content-Security-Policy": policy, "Cache-Control": "no-cache"],
          body: .document(document))
      })
  }

  private static let missing = HTTPError(
    404, "There is no such file of the page. If the server was upgraded, load the page again.")

  private func asset(_ request: Request) throws -> Response {
    let folder = request.parameters["folder"].map { $0 + "/" } ?? ""
    let name = folder + (request.parameters["file"] ?? "")
    guard let document = assets.documents[name], !name.hasSuffix(".html") else {
      throw Self.missing
    }
    guard request.path == "\(assets.folder)/\(name)" else {
      // Another version's page asks. This version's data and styles serve it as well; a script would bring a
      // second copy of each script that it imports.
      guard !name.hasSuffix(".js") else { throw Self.missing }
      return Response(307, ["Location": "\(assets.folder)/\(name)", "Cache-Control": "no-cache"])
    }
    // A worker has the policy that comes with its script.
    return Response(
      200,
      [
        "Content-Security-Policy": policy,
        "Cache-Control": "public, max-age=31536000, immutable",
      ], body: .document(document))
  }

  private func describe() -> Response {
    JSONDocument.response { json in
      json.object { json in
        json.member("readOnly", settings.isReadOnly)
        json.member("edits", takesEdits && !settings.isReadOnly)
        json.member("tiles", settings.tiles?.template)
        json.member("version", version)
        json.member("assets", assets.folder)
      }
    }
  }
}

/// The files of the page, which are part of the program.
///
/// Their addresses contain a hash of all of them, so that browsers may keep them forever, and never mix files
/// of two versions.
final class PageAssets: Sendable {
  /// The folder in which the files are served: `/assets/HASH`.
  let folder: String
  /// The files by their names, such as `style/base.css`.
  let documents: [String: Document]

  /// Where the folder, and the links to the modules that a page needs at once, stand in the HTML files.
  private static let folderPlace = "{{assets}}"
  private static let preloadsPlace = "{{preloads}}"

  init() throws {
    let files = Self.files()
    var hash = ContentHash()
    for (name, bytes) in files {
      Array("\(name) \(bytes.count) ".utf8).withUnsafeBytes { hash.add($0) }
      bytes.withUnsafeBytes { hash.add($0) }
    }
    let folder = "/assets/\(String(hash.value, radix: 36))"
    var documents: [String: Document] = [:]
    for (name, bytes) in files {
      let type = Self.contentType(of: name)
      let isPage = name.hasSuffix(".html")
      let text =
        isPage
        ? Array(Self.page(String(decoding: bytes, as: UTF8.self), folder, files).utf8) : bytes
      let document = Document(text, contentType: type)
      if type != "image/png" { try document.compress() }
      documents[name] = document
    }
    self.folder = folder
    self.documents = documents
  }

  private static func files() -> [(name: String, bytes: [UInt8])] {
    var files: [(name: String, bytes: [UInt8])] = []
    while let asset = quake_page_asset(files.count)?.pointee {
      files.append(
        (
          String(cString: asset.name),
          Array(UnsafeBufferPointer(start: asset.bytes, count: asset.size))
        ))
    }
    return files
  }

  /// A browser asks for a module that is not preloaded only when the one that imports it has arrived.
  private static func page(
    _ text: String, _ folder: String, _ files: [(name: String, bytes: [UInt8])]
  ) -> String {
    let entries = text.matches(of: #/<script type="module" src="\{\{assets\}\}\/([^"]+)"/#)
      .map { String($0.1) }
    let scripts = Dictionary(uniqueKeysWithValues: files.filter { $0.name.hasSuffix(".js") })
    var needed: Set<String> = []
    var waiting = entries
    while let module = waiting.popLast() {
      guard let bytes = scripts[module], needed.insert(module).inserted else { continue }
      waiting += imports(of: module, bytes)
    }
    let preloads = needed.subtracting(entries).sorted()
      .map { "<link rel=\"modulepreload\" href=\"\(folderPlace)/\($0)\">" }
    return
      text.replacing(preloadsPlace, with: preloads.joined(separator: "\n"))
      .replacing(folderPlace, with: folder)
  }

  /// What a module imports before it runs: statements that begin in the first column, before all others.
  private static func imports(of module: String, _ bytes: [UInt8]) -> [String] {
    let folder = module.split(separator: "/").dropLast().map(String.init)
    var modules: [String] = []
    var rest = bytes[...]
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      let line = rest[..<end]
      rest = rest[(end + 1)...]
      guard let first = line.first else { continue }
      let isImport = line.starts(with: "import ".utf8)
      if !isImport, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first) { break }
      let parts = line.split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false)
      guard parts.count == 3, isImport || first == UInt8(ascii: "}") else { continue }
      var path = folder
      for part in String(decoding: parts[1], as: UTF8.self).split(separator: "/") {
        if part == ".." { path.removeLast() } else if part != "." { path.append(String(part)) }
      }
      modules.append(path.joined(separator: "/"))
    }
    return modules
  }

  private static func contentType(of name: String) -> String {
    switch name.split(separator: ".").last {
    case "html": "text/html; charset=utf-8"
    case "js": "text/javascript; charset=utf-8"
    case "css": "text/css; charset=utf-8"
    case "svg": "image/svg+xml"
    case "png": "image/png"
    case "json": "application/json"
    case "webmanifest": "application/manifest+json"
    case "txt": "text/plain; charset=utf-8"
    default: "application/octet-stream"
    }
  }
}

/// The operator's settings for the page.
package struct PageSettings: Sendable {
  /// Whether the page offers no edits, whatever the server accepts.
  package var isReadOnly = false
  /// The tiles below the map; nil: it shows coastlines and borders only.
  package var tiles: TileURL?

  package init() {}
}

/// The address of map tiles that the operator has: `https://tiles.example.org/{z}/{x}/{y}.png`.
package struct TileURL: Sendable {
  /// The address with its placeholders.
  package let template: String
  /// The origin that a content security policy must allow, such as `https://tiles.example.org`; nil: the
  /// server itself has the tiles.
  let origin: String?

  /// Reads a template; nil if it is not one. It is an address of http or https, or a path of this server, and
  /// has the placeholders `{z}`, `{x}` and `{y}` in its path or its query.
  package init?(_ text: String) {
    let bytes = Array(text.utf8)
    // These would end the value in a policy, in a header or in JSON.
    let isPlain = bytes.allSatisfy {
      (0x21...0x7E).contains($0) && !#""',;<>\^`|"#.utf8.contains($0)
    }
    guard isPlain, bytes.count <= 2000 else { return nil }
    var path = text[...]
    var origin: String?
    if !text.hasPrefix("/") {
      guard let scheme = ["https://", "http://"].first(where: { text.hasPrefix($0) }) else {
        return nil
      }
      let rest = text.dropFirst(scheme.count)
      let host = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
      let isHost = host.utf8.allSatisfy {
        ($0 >= 0x30 && $0 <= 0x39) || ($0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A)
          || "-.:[]".utf8.contains($0)
      }
      guard isHost, !host.isEmpty, !host.hasPrefix(":") else { return nil }
      origin = scheme + host
      path = rest.dropFirst(host.count)
    } else if text.hasPrefix("//") {
      return nil
    }
    // Of each exactly one, and no others, which the page would not fill.
    let places = ["{z}", "{x}", "{y}"]
    let braces = path.utf8.count { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "}") }
    guard path.hasPrefix("/"), !path.contains("#"), braces == 2 * places.count,
      places.allSatisfy({ path.contains($0) })
    else { return nil }
    template = text
    self.origin = origin
  }
}
