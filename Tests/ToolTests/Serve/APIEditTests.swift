import Foundation
import TestSupport
import Testing

/// The edits under `/v1`, which need a token.
@Suite struct APIEditTests {
  @Test func editsNeedAToken() throws {
    let scene = try APIScene()
    let before = try scene.database.value("select quake.latest_token()")
    for (method, target) in [
      ("DELETE", "/v1/quakes/us5"), ("POST", "/v1/quakes/us5/restore"),
      ("POST", "/v1/validate?every-event"), ("POST", "/v1/refresh"),
      ("POST", "/v1/edits/1/restore"),
    ] {
      #expect(try scene.server.request(method, target).status == 401)
      let wrong = try scene.server.request(method, target, ["Authorization": "Bearer x"])
      #expect(wrong.status == 401 && wrong.headers["content-type"] == "application/problem+json")
    }
    #expect(try scene.database.value("select quake.latest_token()") == before)
  }

  @Test func anEditIsDoneAfterTheDatabaseHasEndedItsSessions() throws {
    let scene = try APIScene(["--query-connections", "1"])
    #expect(try scene.server.get("/v1/quakes/us2").status == 200)
    try scene.database.psql(
      """
      select count(pg_terminate_backend(pid, 10000)) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()
      """)
    try scene.edit("DELETE", "/v1/quakes/us2?dry-run").expect(200)
  }

  @Test func aDeletedEventIsGoneUntilItIsRestored() throws {
    let scene = try APIScene()
    let before = try APIScene.text(
      try scene.object("/v1/quakes/us2?columns=code,magnitude,first_stored"))
    let plan = try scene.edit("DELETE", "/v1/quakes/us2?dry-run").object()
    // With the row that it superseded.
    #expect(plan["dry_run"] as? Bool == true && plan["count"] as? Int == 2)
    try scene.server.request(
      "DELETE", "/v1/quakes/us2",
      ["Authorization": "Bearer \(APIScene.token)", "If-Match": "\"1\""]
    ).expect(412)
    let answer = try scene.edit("DELETE", "/v1/quakes/us2")
    let outcome = try answer.object()
    #expect(answer.status == 200 && outcome["finished"] as? Bool == true)
    #expect(outcome["changed"] as? Int == 2)

    for id in ["us2", "us1"] {
      let gone = try scene.server.get("/v1/quakes/\(id)")
      let problem = try gone.object()
      #expect(gone.status == 410 && problem["status"] as? Int == 410)
      #expect(problem["reason"] as? String == "deleted" && problem["author"] as? String == "ann")
      #expect(problem["context"] as? String == "DELETE /v1/quakes/{id}")
      #expect(problem["edit"] as? Int == outcome["edit"] as? Int)
      #expect((problem["deleted_at"] as? String)?.hasSuffix("Z") == true)
    }
    let again = try scene.edit("DELETE", "/v1/quakes/us2")
    #expect(try again.status == 404 && again.object()["author"] as? String == "ann")
    #expect(try scene.edit("DELETE", "/v1/quakes/none").status == 404)
    let changes = try scene.object("/v1/history?code=us2&descending&limit=1")["changes"]
    let last = try #require((changes as? [[String: Any]])?.first)
    let transaction = try #require(last["transaction"] as? [String: Any])
    #expect(last["op"] as? String == "delete" && transaction["author"] as? String == "ann")
    #expect(transaction["context"] as? String == "DELETE /v1/quakes/{id}")
    #expect(
      try scene.database.value("select program from quake.edit order by id desc limit 1")
        .hasPrefix("quake-serve "))

    let restored = try scene.edit("POST", "/v1/quakes/us2/restore").object()
    #expect(restored["action"] as? String == "restore" && restored["changed"] as? Int == 2)
    #expect(
      try APIScene.text(try scene.object("/v1/quakes/us2?columns=code,magnitude,first_stored"))
        == before)
    #expect(try scene.object("/v1/quakes/us1")["id"] as? String == "us2")
    let nothing = try scene.edit("POST", "/v1/quakes/us2/restore")
    #expect(try nothing.status == 200 && nothing.object()["changed"] as? Int == 0)
    #expect(try scene.edit("POST", "/v1/quakes/none/restore").status == 404)
  }

  @Test func anEventThatCannotBeRestoredIsAConflict() throws {
    let scene = try APIScene()
    #expect(try scene.edit("DELETE", "/v1/quakes/us4").status == 200)
    try scene.purgeHistory()
    try scene.edit("POST", "/v1/quakes/us4/restore").expect(409, "force=true")
    #expect(try scene.server.get("/v1/quakes/us4").status == 410)
    #expect(try scene.edit("POST", "/v1/quakes/us4/restore?force").status == 200)
    #expect(try scene.database.value("select count(*) from quake.tombstone") == "0")
  }

  @Test func anEditIsRestoredAsAWhole() throws {
    let scene = try APIScene()
    let events =
      "select json_agg(q order by code) from (select code, place, validated from quake.quake) q"
    let before = try scene.database.value(events)
    let outcome = try scene.edit("POST", "/v1/validate?every-event").object()
    let edit = try #require(outcome["edit"] as? Int)
    #expect(try scene.database.value(events) != before)
    let plan = try scene.edit("POST", "/v1/edits/\(edit)/restore?dry-run").object()
    #expect(
      plan["dry_run"] as? Bool == true && plan["updated"] as? Int == outcome["changed"] as? Int)
    #expect(try scene.database.value(events) != before)
    let restored = try scene.edit("POST", "/v1/edits/\(edit)/restore").object()
    #expect(restored["changed"] as? Int == outcome["changed"] as? Int)
    #expect(try scene.database.value(events) == before)
    let nothing = try scene.edit("POST", "/v1/edits/\(edit)/restore")
    #expect(try nothing.status == 200 && nothing.object()["changed"] as? Int == 0)
    for unknown in ["999", "-1", "x", "99999999999999999999"] {
      try scene.edit("POST", "/v1/edits/\(unknown)/restore").expect(
        404, "There is no edit ", with: unknown)
    }
    // A later change is not overwritten unless the request says so.
    let set = try scene.tool(
      "quake-admin", ["events", "set", "place=a", "us5", "--yes", "--json"])
    let number = try #require((set.last as? [String: Any])?["edit"] as? Int)
    try scene.database.psql("update quake.quake set place = 'b' where code = 'us5'")
    try scene.edit("POST", "/v1/edits/\(number)/restore").expect(
      409, "1 event of edit \(number) was changed since")
    #expect(try scene.edit("POST", "/v1/edits/\(number)/restore?force").status == 200)
    #expect(try scene.database.value(events) == before)
  }

  @Test func validationIsByConditions() throws {
    let scene = try APIScene()
    #expect(try scene.edit("POST", "/v1/validate").status == 409)
    #expect(try scene.edit("POST", "/v1/validate?every-event&network=us").status == 409)
    try scene.server.request(
      "POST", "/v1/validate?network=ci",
      ["Authorization": "Bearer \(APIScene.token)", "Content-Type": "application/json"], body: "{}"
    ).expect(415)
    #expect(try scene.database.value("select count(*) from quake.quake where validated") == "0")

    let plan = try scene.edit("POST", "/v1/validate?place=hawaii&dry_run=true").object()
    let count = try #require(plan["count"] as? Int)
    #expect(count > 10 && (plan["sample"] as? [Any])?.count == 10)
    let outcome = try scene.edit("POST", "/v1/validate?place=hawaii").object()
    #expect(outcome["changed"] as? Int == count && outcome["action"] as? String == "validate")
    #expect(
      try scene.database.value(
        """
        select bool_and(validated = coalesce(place ilike '%hawaii%', false)) from quake.current_quake
        """) == "t")
    #expect(
      try scene.database.value(
        "select author || ': ' || context from quake.edit order by id desc limit 1")
        == "ann: POST /v1/validate")
    #expect(
      try scene.edit("POST", "/v1/validate?every-event&limit=1").object()["changed"] as? Int == 1
    )
  }

  @Test func aRefreshReportsItsResults() throws {
    let scene = try APIScene(hasEvents: false)
    try scene.edit("POST", "/v1/refresh").expect(404, "no feed to refresh")
    let feed = try ScriptedServer { _, client in
      client.answer(200, [], Array(Feeds.collection(count: 3).utf8))
    }
    let worker = try scene.database.start(
      "quake-ingest", ["run", "--feed", "\(feed.url)@1h", "--refresh-interval", "0s"])
    try worker.waitForError("all_day: 3 seen")
    let answer = try scene.edit("POST", "/v1/refresh?feed=all_day&timeout=60s")
    let result = try #require((try answer.object()["feeds"] as? [[String: Any]])?.first)
    #expect(answer.status == 200 && result["feed"] as? String == "all_day")
    #expect(["imported", "not_modified"].contains(result["outcome"] as? String))
    try worker.end()
    // No worker polls the feed now.
    let waiting = try scene.edit("POST", "/v1/refresh?feed=all_day&timeout=50ms").expect(202)
    #expect((try waiting.object()["feeds"] as? [[String: Any]])?.first?["outcome"] is NSNull)
  }
}
