import Foundation
import TestSupport
import Testing

/// Answers that look like a feed without events, or like no change, but are errors: none is taken for a snapshot.
@Suite final class ErrorAnswerTests: ToolSuite {
  private static let error =
    #"{"type":"FeatureCollection","metadata":{"generated":1700000200000,"status":503,"#
    + #""error":"Service unavailable","count":0},"features":[]}"#

  private func ingest(_ arguments: String...) throws -> ToolProcess.Outcome {
    try database.run("quake-ingest", arguments)
  }

  @Test func snapshotsThatReportAnErrorWithdrawNothing() throws {
    let good = Feeds.collection(count: 3, magnitude: "5.5")
    for (time, text) in [("0000", good), ("0001", Self.error), ("0002", Self.error)] {
      _ = try folder.write("2.5_day_2023-11-14T\(time)Z.geojson", text)
    }
    try ingest("replay", folder.path, "--withdraw-after", "1").expect(
      0, "is an error message of the service, not a feed",
      "It states the status 503. It says: Service unavailable",
      "replayed 1 of 3 snapshots, set 2 aside")
    #expect(try database.count("quake.quake where withdrawn_at is null") == 3)
    #expect(
      try database.column(
        "select coalesce(quarantine_reason, 'good') from quake.import order by id limit 2")
        == ["good", "damaged"])
  }

  @Test func aFileThatReportsAnErrorIsNotImported() throws {
    let file = try folder.write("error.geojson", Self.error)
    for arguments in [
      ["import", file], ["backfill", folder.path], ["run", "--once", "--feed", file],
    ] {
      try database.run("quake-ingest", arguments).expect(
        65, "is an error message of the service, not a feed", with: arguments)
    }
    #expect(try database.count("quake.import where quarantined_at is null") == 0)
    #expect(try database.count("quake.backfill_file") == 0)
  }

  /// A cache that answers 304 to a request without a condition has lost the feed.
  @Test func aNotModifiedThatNothingAskedForIsAFailedPoll() throws {
    let server = try ScriptedServer(304, ["ETag: \"v1\""], body: [])
    for command in [["import", server.url], ["run", "--once", "--feed", server.url]] {
      try database.run("quake-ingest", command).expect(
        69, "HTTP status 304", "the request had no condition", with: command)
    }
    #expect(
      try database.value(
        "select concat_ws(' ', failures, etag, succeeded_at, error like '%304%') from quake.feed")
        == "1 t")
  }

  @Test func anUnreadableBodyIsReportedAndCannotBeApplied() throws {
    let server = try ScriptedServer(
      200, body: Array(#"{"type":"FeatureCollection","features":[{"type":"Feature","#.utf8))
    let run = try database.run(
      "quake-ingest",
      ["run", "--once", "--feed", "http://127.0.0.1:\(server.port)/summary/all_day.geojson"]
    ).expect(65, #"hint: Its body is in quarantine; see "quake-admin imports", import 1."#)
    // With --once there is no next attempt.
    #expect(!run.errors.contains("Next attempt"))
    let apply = try database.run("quake-admin", ["imports", "apply", "1"]).expect(65)
    #expect(apply.errors.hasPrefix("quake-admin: error: could not read the body of import 1\n"))
    #expect(apply.errors.contains("  detail: "))
    #expect(apply.errors.contains("quake-admin imports discard 1"))
    #expect(!apply.errors.contains("DETAIL:"))
    try database.succeed("quake-admin", ["imports", "discard", "1"])
  }

  // MARK: - An older libcurl

  /// Every function that the tools load, from the machine's libcurl, except that the options that came with 7.80 and
  /// 7.85 are unknown.
  private static let olderLibcurl = #"""
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <stdarg.h>
    #define FUNCTIONS(USE) \
      USE(curl_global_init) USE(curl_easy_init) USE(curl_easy_cleanup) USE(curl_easy_getinfo) \
      USE(curl_easy_pause) USE(curl_easy_strerror) USE(curl_multi_init) USE(curl_multi_cleanup) \
      USE(curl_multi_add_handle) USE(curl_multi_remove_handle) USE(curl_multi_perform) \
      USE(curl_multi_poll) USE(curl_multi_info_read) USE(curl_slist_append) \
      USE(curl_slist_free_all) USE(curl_url) USE(curl_url_set) USE(curl_url_get) \
      USE(curl_url_cleanup) USE(curl_free) USE(curl_getdate)
    #define PASS_ON(NAME) \
      static void *real_##NAME; \
      __attribute__((naked)) void NAME(void) { __asm__("jmp *%0" : : "m"(real_##NAME)); }
    FUNCTIONS(PASS_ON)
    static int (*set)(void *, int, ...);
    int curl_easy_setopt(void *easy, int option, ...) {
      switch (option) {
        case 20312: case 10313: case 10318: case 10319: return 48;  // CURLE_UNKNOWN_OPTION
      }
      va_list values;
      va_start(values, option);
      int code = set(easy, option, va_arg(values, void *));
      va_end(values);
      return code;
    }
    __attribute__((constructor)) static void load(void) {
      void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    #define FIND(NAME) real_##NAME = dlsym(library, #NAME);
      FUNCTIONS(FIND)
      set = dlsym(library, "curl_easy_setopt");
    }
    """#

  /// libcurl before 7.80, as RHEL 9 has it, does not know the callback that checks where a redirect leads.
  @Test func aRedirectThatCannotBeCheckedIsNotFollowed() throws {
    try folder.write("older.c", Self.olderLibcurl)
    try Tools.shell(
      """
      library=$(clang -print-file-name=libcurl.so.4)
      clang -shared -fPIC -DLIBRARY="\\"$library\\"" -o libcurl.so.4 older.c
      """, folder: folder.path
    ).requireSuccess()
    let server = try ScriptedServer { request, client in
      if request.target.hasPrefix("/old") {
        client.answer(302, ["Location: /new.geojson"], "")
      } else {
        client.answer(200, [], Array(Feeds.collection(count: 3).utf8))
      }
    }
    func load(_ path: String) throws -> ToolProcess.Outcome {
      try database.run(
        "quake-ingest", ["import", "http://127.0.0.1:\(server.port)\(path)"],
        environment: ["LD_LIBRARY_PATH": folder.path])
    }
    try load("/old.geojson").expect(69, "302")
    try load("/new.geojson").expect(0)
  }
}
