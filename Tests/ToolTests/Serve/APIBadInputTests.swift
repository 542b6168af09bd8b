import Foundation
import TestSupport
import Testing

/// What bad input gets under `/v1`, and the description of the API.
@Suite struct APIBadInputTests {
  @Test func badParametersAreRefusedWithASentence() throws {
    let scene = try APIScene()
    let long = String(repeating: "9", count: 400)
    let cases: [(target: String, status: Int, words: String)] = [
      ("quakes?nope=1", 400, "unknown parameter 'nope'"),
      ("quakes?min_magnitud=5", 400, "Did you mean 'min-magnitude'?"),
      ("quakes?min-magnitude=nan", 400, "parameter min-magnitude: expected a number"),
      ("quakes?min-magnitude=1e999", 400, "expected a number"),
      ("quakes?min-magnitude=1&min_magnitude=2", 400, "given more than once"),
      ("quakes?min-magnitude=6&max-magnitude=5", 409, "no event can pass"),
      ("quakes?last=1d&from=2024-01-02", 409, "cannot be used together"),
      ("quakes?from=2024-02-30", 400, "expected a time in UTC"),
      ("quakes?last=-1d", 400, "expected an age with its unit"),
      ("quakes?bbox=1,2,3,91", 400, "in degrees"), ("quakes?bbox=1,3,2,1", 409, "no further north"),
      ("quakes?within=x", 400, "kilometres:latitude,longitude"),
      ("quakes?columns=code,foo", 400, "invalid value 'foo' for parameter columns"),
      ("quakes?sort=time:up", 400, "with :asc or :desc"),
      ("quakes?limit=20001", 400, "from 1 to 20000"), ("quakes?limit=\(long)", 400, "to 20000"),
      ("quakes?page=MQ", 400, "malformed cursor"), ("quakes?alert=blue", 400, "green"),
      ("quakes?superseded=maybe", 400, "expected true or false"),
      ("quakes?as_of=x", 400, "malformed token"),
      ("quakes?as-of=-1", 400, "value '-1' for parameter as-of"),
      ("quakes?as_of=99999999", 404, "there is no transaction"),
      ("quakes?as_of=1.00000000", 404, "another"),
      ("quakes?place=%00", 400, "control character"), ("quakes?place=%ff", 400, "not valid UTF-8"),
      ("quakes?place=%f", 400, "percent sign"), ("quakes/us%00", 400, "control character"),
      ("quakes/us5?limit=1", 400, "unknown parameter"),
      ("quakes/\(long)\(long)\(long)", 404, "there is no event"),
      ("stats?by=planet", 400, "region"), ("stats?bin=1", 409, "needs by magnitude"),
      ("stats?by=day&completeness=1", 409, "cannot be used together"),
      ("history?op=explode", 400, "insert, update, delete or truncate"),
      ("history?page=9.00000000:1", 404, "future"),
      ("history?after=1&since=2024-01-01", 409, "together"),
      ("diff", 400, "from is missing"), ("diff?from=0&to=\(long)", 400, "malformed token"),
      ("table?limit=100001", 400, "from 1 to 100000"), ("table?columns=colour", 400, "columns"),
      ("changes?after=x", 400, "not a cursor"), ("changes?colour=red", 400, "colour"),
      ("nothing", 404, "nothing at this address"),
    ]
    for (target, status, words) in cases {
      let answer = try scene.server.get("/v1/" + target).expect(status, with: target)
      #expect(answer.headers["content-type"] == "application/problem+json", "\(target)")
      let problem = try answer.object()
      let detail = try #require(problem["detail"] as? String)
      #expect(detail.lowercased().contains(words.lowercased()), "\(target): \(detail)")
      #expect(problem["status"] as? Int == status && problem["title"] is String)
      #expect(problem["type"] as? String == "about:blank")
    }
    // libmicrohttpd has little memory for a connection.
    for count in [64, 200, 201, 300] {
      let answer = try scene.server.get(
        "/v1/history?" + Array(repeating: "author=a", count: count).joined(separator: "&"))
      #expect(answer.status == (count <= 200 ? 200 : 400), "\(count): \(answer.status)")
    }
    // The last valid token.
    let place = try scene.database.value("select quake.latest_token()") + ":99"
    #expect(try scene.server.get("/v1/history?page=\(place)").status == 400)
    let wrongOrder = try APIScene.next(try scene.server.get("/v1/quakes?limit=1"))
    #expect(try scene.server.get(try #require(wrongOrder) + "&sort=code").status == 400)
    try scene.server.get("/v1/changes", ["Accept": "image/png"]).expect(406, "text/event-stream")
    #expect(try scene.server.get("/v1/changes", ["Last-Event-ID": "x y"]).status == 400)
    #expect(try scene.server.request("POST", "/v1/quakes").headers["allow"] == "GET, HEAD, OPTIONS")
    #expect(scene.server.process.errorText.contains("warning") == false)
    try scene.server.stop()
  }

  @Test func theHistoryBeforeAPurgeIsGone() throws {
    let scene = try APIScene()
    try scene.purgeHistory()
    for target in ["history?after=1", "quakes?as_of=1", "diff?from=1"] {
      try scene.server.get("/v1/" + target).expect(410, "expired", with: target)
    }
    #expect(try scene.server.get("/v1/quakes").status == 200)
  }

  /// How long schemathesis may take beside the other tests.
  private static let patience: Duration = .seconds(3600)
  /// By default Schemathesis gives a request ten seconds, and reports slow generation of its values as a failure.
  private static let forBusyMachines = "--request-timeout 120 --suppress-health-check too_slow"

  /// Schemathesis sends what the description allows and what it does not, and compares the answers with it.
  @Test(
    .enabled(if: Tools.isSoak, "make soak has it"),
    .enabled(if: Schemathesis.program != nil, "\(Schemathesis.isMissing)"))
  func schemathesisFindsNoFailure() throws {
    let program = Schemathesis.program ?? ""
    let scene = try APIScene()
    let url = scene.server.url
    let folder = try TemporaryFolder()
    // A deleted event answers 410, and many values make an address too long, which is not said in the form of its service.
    // Links between operations do not know that a flag may be empty. A server without consumers says so to everybody.
    try folder.write(
      "schemathesis.toml",
      """
      [checks]
      positive_data_acceptance.expected-statuses = ["2xx", "3xx", 401, 403, 404, 409, 410, 414, 429, "5xx"]
      negative_data_rejection.expected-statuses = [400, 401, 403, 404, 405, 406, 409, 414, 415, 422, 428, 429, "5xx"]
      missing_required_header.enabled = false

      [phases.stateful]
      generation.mode = "positive"

      [[operations]]
      include-path-regex = "^/fdsnws/"
      checks.content_type_conformance.enabled = false
      """)
    // A stream does not end.
    let outcome = try Tools.startShell(
      """
      exec '\(program)' run \(url)/openapi.json --url \(url) --exclude-path-regex 'changes|websocket' \
        --phases examples,coverage,fuzzing,stateful --max-examples 300 --seed 7 --no-color \(Self.forBusyMachines)
      """, environment: ["HOME": folder.path], folder: folder.path
    ).exit(within: Self.patience)
    #expect(outcome.status == 0, "\(outcome.output.suffix(12000)) \(outcome.errors)")
    // With a token, edits happen; a deleted event keeps its versions and answers 410.
    let edits = try Tools.startShell(
      """
      exec '\(program)' run \(url)/openapi.json --url \(url) --include-path-regex '^/v1/(?!changes)' \
        -H 'Authorization: Bearer \(APIScene.token)' --phases examples,coverage,fuzzing \
        --max-examples 100 --seed 8 --no-color \(Self.forBusyMachines)
      """, environment: ["HOME": folder.path], folder: folder.path
    ).exit(within: Self.patience)
    #expect(edits.status == 0, "\(edits.output.suffix(12000)) \(edits.errors)")
  }
}
