import CPage

/// The files of the page, which are part of the program.
///
/// Their addresses contain a hash of all of them, so that browsers may keep them forever, and never mix files
/// of two versions.
final class PageAssets: Sendable {
  /// The folder in which the files are served: `/assets/HASH`.
  let folder: String
  /// The files by their names, such as `style/base.css`.
  let documents: [String: Document]

  /// Where the folder stands in the texts of the HTML files.
  private static let placeholder = "{{assets}}"

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
      let text = isPage ? Array(Self.fill(String(decoding: bytes, as: UTF8.self), folder)) : bytes
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

  private static func fill(_ text: String, _ folder: String) -> String.UTF8View {
    text.split(separator: placeholder, omittingEmptySubsequences: false)
      .joined(separator: folder).utf8
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
