import Foundation
import TestSupport
import Testing

/// libcurl before 7.80, as RHEL 9 has it, does not know the callback that checks where a redirect leads.
@Suite struct OlderLibcurlTests {
  /// Every function that the tools load, from the machine's libcurl, except that the options that came with 7.80 and
  /// 7.85 are unknown.
  private static let source = #"""
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

  @Test func aRedirectThatCannotBeCheckedIsNotFollowed() throws {
    let folder = try TemporaryFolder()
    try folder.write("older.c", Self.source)
    let built = try Tools.shell(
      """
      library=$(clang -print-file-name=libcurl.so.4)
      clang -shared -fPIC -DLIBRARY="\\"$library\\"" -o libcurl.so.4 older.c
      """, folder: folder.path)
    try #require(built.status == 0, "\(built.errors)")
    let server = try ScriptedServer { request, client in
      if request.target.hasPrefix("/old") {
        client.answer(302, ["Location: /new.geojson"], "")
      } else {
        client.answer(200, [], Array(Feeds.collection(count: 3).utf8))
      }
    }
    let database = try TestDatabase()
    func load(_ path: String) throws -> ToolProcess.Outcome {
      try Tools.run(
        "quake-ingest",
        ["import", "http://127.0.0.1:\(server.port)\(path)"] + database.option,
        environment: ["LD_LIBRARY_PATH": folder.path])
    }
    let redirected = try load("/old.geojson")
    #expect(redirected.status == 69 && redirected.errors.contains("302"), "\(redirected.errors)")
    let direct = try load("/new.geojson")
    #expect(direct.status == 0, "\(direct.errors)")
  }
}
