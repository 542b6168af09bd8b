import Foundation
import TestSupport
import Testing

@testable import QuakeServer

/// The files of the page as they are sent.
@Suite struct PageAssetTests {
  private static let folder = Tools.package + "/Sources/CPage/web"

  private let assets: PageAssets

  init() throws {
    assets = try PageAssets()
  }

  private func text(_ name: String) throws -> String {
    try String(contentsOfFile: Self.folder + "/" + name, encoding: .utf8)
  }

  private var names: [String] { assets.documents.keys.sorted() }

  private var scripts: [String] { names.filter { $0.hasSuffix(".js") } }

  @Test func everyFileOfTheFolderIsEmbeddedAsItIs() throws {
    let files = try FileManager.default.subpathsOfDirectory(atPath: Self.folder).filter {
      var isFolder: ObjCBool = false
      _ = FileManager.default.fileExists(atPath: Self.folder + "/" + $0, isDirectory: &isFolder)
      return !isFolder.boolValue
    }
    #expect(names == files.sorted(), "\"make page-assets\" lists the files anew")
    for name in names {
      // The routes have one folder.
      #expect(name.split(separator: "/").count <= 2, "\(name)")
      var bytes: [UInt8] = []
      try #require(assets.documents[name]).withParts { bytes += $0 }
      guard !name.hasSuffix(".html") else { continue }
      #expect(
        try Data(bytes) == Data(contentsOf: URL(filePath: Self.folder + "/" + name)), "\(name)")
    }
  }

  /// What a browser can fetch in all: one of the languages, and not the files that hold types alone.
  @Test func allOfItIsSmall() throws {
    var sum = 0
    var largestLanguage = 0
    for name in names where !name.hasSuffix("types.js") {
      let document = try #require(assets.documents[name])
      let size = document.compressedForm?.size ?? document.size
      #expect(size <= (name.hasSuffix(".bin") ? 140 : 16) << 10, "\(name)")
      if name.wholeMatch(of: #/text\/[a-z]{2}\.js/#) == nil {
        sum += size
      } else {
        largestLanguage = max(largestLanguage, size)
      }
    }
    sum += largestLanguage
    print(
      "the page has \(names.count) files; a browser fetches at most \(sum) bytes of them, compressed"
    )
    #expect(sum <= 320_000 && largestLanguage > 0)
  }

  /// A module that is not in the list is only asked for when the one that imports it has arrived.
  @Test(arguments: ["index.html", "embed.html"])
  func theModulesThatAPageNeedsArePreloaded(page: String) throws {
    var html = ""
    try #require(assets.documents[page]).withParts { html += String(decoding: $0, as: UTF8.self) }
    #expect(!html.contains("{{"))
    /// The modules that the first group of an expression names.
    func modules(_ place: Regex<(Substring, Substring)>) -> [String] {
      html.matches(of: place).map { String($0.1.dropFirst(assets.folder.count + 1)) }
    }
    let entry = modules(#/<script type="module" src="([^"]+)"/#)
    let preloaded = modules(#/<link rel="modulepreload" href="([^"]+)"/#)
    #expect(!entry.isEmpty && Set(preloaded).count == preloaded.count)
    var needed: [String] = []
    var waiting = entry
    while let module = waiting.popLast() {
      guard !needed.contains(module) else { continue }
      needed.append(module)
      waiting += Self.imports(of: module, try text(module))
    }
    let missing = Set(needed).subtracting(preloaded).subtracting(entry)
    #expect(missing == [], "\(page)")
    // English is the language of most browsers.
    let other = Set(preloaded).subtracting(needed)
    #expect(other == (page == "index.html" ? ["text/en.js"] : []), "\(page)")
  }

  /// What a module imports before it runs.
  private static func imports(of module: String, _ text: String) -> [String] {
    let folder = module.split(separator: "/").dropLast().map(String.init)
    return text.matches(of: #/(?m)^(?:import|export)\s(?:[^;"]*?\sfrom\s+)?"([^"]+)"/#).map {
      match in
      var path = folder
      for part in match.1.split(separator: "/") {
        if part == ".." { path.removeLast() } else if part != "." { path.append(String(part)) }
      }
      return path.joined(separator: "/")
    }
  }

  /// Links that a person follows are allowed; the page itself asks no other server for anything.
  @Test func noFileAsksAnotherServer() throws {
    // Names of formats, and the agencies and licences that texts link to.
    let allowed =
      #/https?:\/\/(www\.w3\.org\/(2000\/svg|1999\/xlink)|[a-z.]*\b(usgs\.gov|emsc-csem\.org|geonet\.org\.nz|naturalearthdata\.com)\b.*)/#
    for name in names where !name.hasSuffix(".bin") && !name.hasSuffix(".png") {
      for match in try text(name).matches(of: #/(?:https?|wss?):\/\/[^\s"'`)<>]+/#) {
        let address = String(match.0)
        // Examples in comments and the places in templates, such as `https://${host}`.
        let isText = address.contains("example.org") || address.contains("${")
        #expect(isText || address.wholeMatch(of: allowed) != nil, "\(name): \(address)")
      }
    }
  }

  /// A strict policy forbids these.
  @Test func nothingIsInline() throws {
    for name in names where name.hasSuffix(".html") || name.hasSuffix(".svg") {
      let html = try text(name)
      #expect(!html.contains(#/<script(?![^>]*\ssrc=)/#) && !html.contains("<style"), "\(name)")
      #expect(!html.contains(#/\sstyle\s*=/#) && !html.contains(#/\son[a-z]+\s*=/#), "\(name)")
    }
    for name in scripts {
      let script = try text(name)
      #expect(
        !script.contains(
          #/\.(innerHTML|outerHTML)\s*\+?=|insertAdjacentHTML|document\.write\(|\beval\(/#),
        "\(name)")
    }
  }

  /// Each language has the texts that the others have, with the same places for values.
  @Test func everyLanguageHasEveryText() throws {
    func texts(_ language: String) throws -> [String: Set<String>] {
      var texts: [String: Set<String>] = [:]
      var key = ""
      for line in try text("text/\(language).js").split(separator: "\n") {
        if let match = line.prefixMatch(of: #/  (?:"([^"]+)"|([A-Za-z]\w*)):/#) {
          key = String(match.1 ?? match.2 ?? "")
          #expect(texts.updateValue([], forKey: key) == nil, "\(language): \(key) twice")
        }
        guard !key.isEmpty else { continue }
        let places = line.matches(of: #/\{([a-z][A-Za-z]*)\}/#).map { String($0.1) }
        texts[key, default: []].formUnion(places)
      }
      return texts
    }
    let english = try texts("en")
    #expect(english.count > 100)
    for language in ["de", "es"] {
      let other = try texts(language)
      #expect(Set(english.keys).symmetricDifference(other.keys) == [], "\(language)")
      for (key, places) in english {
        #expect(other[key] == places, "\(language): \(key)")
      }
    }
  }
}
