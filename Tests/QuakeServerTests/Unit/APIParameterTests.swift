import Foundation
import QuakeModel
import Testing

@testable import QuakeServer

/// The parameters of the API, and how OpenAPI describes them.
@Suite struct APIParameterTests {
  private static let routes = APIService(version: "1").routes

  private func document(_ routes: [Route]) throws -> [String: Any] {
    let bytes = OpenAPIDocument(routes, version: "1").bytes(baseURL: "http://host")
    return try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
  }

  @Test func everySchemaThatAnAnswerNamesExists() throws {
    let document = try document(Self.routes)
    let components = try #require(document["components"] as? [String: Any])
    let schemas = try #require(components["schemas"] as? [String: Any])
    for route in Self.routes {
      for answer in route.operation.answers {
        guard let schema = answer.schema else { continue }
        #expect(schemas[schema] != nil, "\(schema)")
      }
    }
    let text = String(decoding: try JSONSerialization.data(withJSONObject: document), as: UTF8.self)
    for match in text.matches(of: #/#\\/components\\/schemas\\/(\w+)/#) {
      #expect(schemas[String(match.1)] != nil, "\(match.1)")
    }
  }

  @Test func onlyRoutesWithATokenHaveASecurityRequirement() throws {
    let paths = try #require(try document(Self.routes)["paths"] as? [String: [String: Any]])
    for route in Self.routes {
      let operation = try #require(
        paths[route.path]?[route.method.rawValue.lowercased()] as? [String: Any])
      #expect((operation["security"] != nil) == (route.access == .token), "\(route.path)")
      #expect((route.method == .get) == (route.access == .open))
    }
  }

  @Test func textsInLinksAreEncoded() {
    #expect(PercentEncoding.text("a b&c=\"<ä>%+\r\n") == "a%20b%26c%3D%22%3C%C3%A4%3E%25%2B%0D%0A")
    #expect(PercentEncoding.text("1.0123abcd:7,x-y_z~") == "1.0123abcd:7,x-y_z~")
    var request = Request(
      method: .get, target: "/v1/quakes?x", path: "/v1/quakes", client: "",
      baseURL: "http://host")
    request.query = [QueryItem(name: "place", value: "a>b"), QueryItem(name: "page", value: "1")]
    #expect(
      APIService.link(to: "/v1/quakes", request, page: "2")
        == "<http://host/v1/quakes?place=a%3Eb&page=2>; rel=\"next\"")
  }
}
