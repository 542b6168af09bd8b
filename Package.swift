// swift-tools-version: 6.0
import PackageDescription

let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
]

// Otherwise the compiler would make the interface of a module first, and for that check the types and expand the macros
// of its code twice.
let quicklyCompiled = ["-Onone", "-no-emit-module-separately-wmo"]

// In the build of `make test`, only the modules that handle every record are optimised. Optimising the others would
// take longer than it would save. `make build` optimises all.
let unoptimisedInTests: [SwiftSetting] =
  Context.environment["QUAKE_TEST_BUILD"] == nil ? strict : strict + [.unsafeFlags(quicklyCompiled)]

// Nor are the tests optimised.
let tests: [SwiftSetting] =
  strict + [.unsafeFlags(quicklyCompiled, .when(configuration: .release))]

// The largest module comes last, so its files are compiled side by side.
let largestTests: [SwiftSetting] =
  strict + [
    .unsafeFlags(
      [
        "-Onone", "-no-whole-module-optimization", "-enable-batch-mode",
        "-no-emit-module-separately",
      ],
      .when(configuration: .release))
  ]

// The tools need no Swift on their machine, and an idle one needs half the memory.
let tool: [LinkerSetting] = [.unsafeFlags(["-static-stdlib"], .when(configuration: .release))]

let package = Package(
  name: "quake",
  products: [
    .library(name: "QuakeModel", targets: ["QuakeModel"]),
    .library(name: "QuakeFeed", targets: ["QuakeFeed"]),
    .library(name: "QuakeStore", targets: ["QuakeStore", "QuakeLive"]),
    .executable(name: "quake-ingest", targets: ["quake-ingest"]),
    .executable(name: "quake-watch", targets: ["quake-watch"]),
    .executable(name: "quake-query", targets: ["quake-query"]),
    .executable(name: "quake-admin", targets: ["quake-admin"]),
    .executable(name: "quake-serve", targets: ["quake-serve"]),
  ],
  targets: [
    // C libraries, from the system's packages.
    .systemLibrary(name: "CLibpq", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    .systemLibrary(
      name: "CLibcurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    // Without pkg-config: the package manager warns about a flag in Debian's simdjson.pc, which is not needed.
    .systemLibrary(name: "CSimdjsonLibrary", providers: [.apt(["libsimdjson-dev"])]),
    .systemLibrary(
      name: "CMicrohttpd", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
    .systemLibrary(name: "CInih", pkgConfig: "inih", providers: [.apt(["libinih-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
    .systemLibrary(name: "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
    .systemLibrary(name: "CWslay", providers: [.apt(["libwslay-dev"])]),
    .systemLibrary(
      name: "CLibcrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    // A small C interface in front of simdjson, which is C++.
    .target(
      name: "CSimdjson", dependencies: ["CSimdjsonLibrary"],
      cxxSettings: [.define("SIMDJSON_EXCEPTIONS", to: "0")],  // errors are codes, not exceptions
      linkerSettings: [.linkedLibrary("simdjson")]),  // no Swift imports the library's own module

    // Two functions of glibc that its Swift module excludes.
    .target(name: "CIdleMemory"),
    // A system call that older versions of glibc do not declare.
    .target(name: "CProcess"),
    // epoll, which glibc's Swift module does not export.
    .target(name: "CEpoll"),
    // The files of the live page. CPage.c embeds them; "make page-assets" lists them anew.
    .target(name: "CPage", exclude: ["jsconfig.json", "web"]),

    // The files of the folder migrations. The compiler notices a change; a new one is listed in CMigrations.c.
    .target(name: "CMigrations"),

    // libcurl, loaded at run time by programs that seldom need it.
    .target(name: "CDynamicCurl"),

    // The lowest modules, which several others use.
    .target(name: "SystemClock", swiftSettings: strict),
    .target(name: "ExplainedErrors", swiftSettings: strict),
    .target(name: "SystemThreads", dependencies: ["ExplainedErrors"], swiftSettings: strict),
    .target(name: "SystemDescriptors", swiftSettings: strict),
    // gzip and Zstandard out.
    .target(name: "Compression", dependencies: ["CZlib", "CZstd"], swiftSettings: strict),

    // Text that is safe to print: JSON strings, and the list of hidden characters.
    .target(name: "SafeText", swiftSettings: strict),
    .testTarget(
      name: "SafeTextTests", dependencies: ["SafeText"], swiftSettings: tests),

    .target(
      name: "Postgres", dependencies: ["CLibpq", "ExplainedErrors", "SystemClock"],
      swiftSettings: strict),
    .target(
      name: "QuakeModel", dependencies: ["ExplainedErrors", "SafeText", "SystemClock"],
      swiftSettings: strict,
      linkerSettings: [.linkedLibrary("m")]),  // the standard library's floating point calls it
    .target(
      name: "QuakeFeed",
      dependencies: [
        "QuakeModel", "Compression", "ExplainedErrors", "SystemClock", "SystemDescriptors",
        "CExpat", "CLibcurl", "CSimdjson", "CZlib", "CZstd",
      ],
      swiftSettings: strict),
    // Writes events in the formats that other programs read.
    .target(name: "QuakeFormat", dependencies: ["QuakeModel"], swiftSettings: strict),
    .testTarget(
      name: "QuakeFormatTests",
      dependencies: ["QuakeFormat", "QuakeFeed", "QuakeModel"],
      swiftSettings: tests),
    .target(
      name: "ChildProcesses", dependencies: ["CProcess", "SystemClock"],
      swiftSettings: unoptimisedInTests),
    .testTarget(
      name: "ChildProcessesTests", dependencies: ["ChildProcesses"], swiftSettings: tests),
    // The private server of a user who names no database.
    .target(
      name: "EmbeddedPostgres", dependencies: ["ChildProcesses", "ExplainedErrors", "SystemClock"],
      swiftSettings: unoptimisedInTests),
    .target(
      name: "QuakeSchema",
      dependencies: ["Postgres", "CMigrations", "QuakeModel", "SystemClock"],
      swiftSettings: unoptimisedInTests),
    .target(
      name: "QuakeHistory", dependencies: ["Postgres", "QuakeModel", "SystemClock"],
      swiftSettings: strict),
    // Which events of different sources are the same earthquake.
    .target(
      name: "QuakeAssociation", dependencies: ["Postgres", "QuakeModel"],
      swiftSettings: unoptimisedInTests),
    // Queries of the events: lists, groups and statistics; and batch edits.
    .target(
      name: "QuakeQuery",
      dependencies: [
        "QuakeAssociation", "QuakeHistory", "QuakeModel", "Postgres", "ExplainedErrors",
        "SystemClock",
      ],
      swiftSettings: unoptimisedInTests),
    .target(
      name: "QuakeImport",
      dependencies: [
        "QuakeAssociation", "Postgres", "QuakeModel", "ExplainedErrors", "SystemClock",
      ],
      swiftSettings: strict),
    .target(
      name: "QuakeWorker", dependencies: ["QuakeHistory", "Postgres", "QuakeModel", "SystemClock"],
      swiftSettings: unoptimisedInTests),
    // The modules of the store under one name, for other programs.
    .target(
      name: "QuakeStore",
      dependencies: [
        "EmbeddedPostgres", "ExplainedErrors", "FeedImport", "Postgres", "QuakeAssociation",
        "QuakeFeed", "QuakeHistory", "QuakeImport", "QuakeLive", "QuakeModel", "QuakeQuery",
        "QuakeSchema", "QuakeWorker",
      ], swiftSettings: unoptimisedInTests),
    // The roles of a database and their privileges.
    .target(
      name: "QuakeRoles", dependencies: ["Postgres", "ExplainedErrors"],
      swiftSettings: unoptimisedInTests),
    // Follows the stream of changes of a server.
    .target(
      name: "QuakeClient",
      dependencies: ["QuakeModel", "ExplainedErrors", "SafeText", "SystemClock", "CDynamicCurl"],
      swiftSettings: unoptimisedInTests),
    .testTarget(
      name: "QuakeClientTests", dependencies: ["QuakeClient", "QuakeModel", "TestSupport"],
      swiftSettings: tests),
    // Changes and live lists for programs with Swift concurrency, which the tools do not use.
    .target(
      name: "QuakeLive",
      dependencies: [
        "QuakeQuery", "QuakeHistory", "QuakeSchema", "QuakeModel", "Postgres", "SystemClock",
        "SystemThreads",
      ],
      swiftSettings: unoptimisedInTests),
    // The HTTP server: documents, streams of changes, and the services of this field.
    .target(
      name: "QuakeServer",
      dependencies: [
        "QueryOptions", "QuakeOptions", "QuakeStatus", "QuakeFormat", "QuakeQuery", "QuakeWorker",
        "QuakeHistory", "QuakeSchema", "QuakeModel", "Postgres", "CommandLine", "Compression",
        "ExplainedErrors", "HTTPFields", "SystemClock", "SystemDescriptors", "SystemThreads",
        "CEpoll", "CLibcrypto", "CMicrohttpd", "CPage", "CWslay",
      ],
      swiftSettings: unoptimisedInTests),
    .testTarget(
      name: "QuakeServerTests",
      dependencies: [
        "QuakeServer", "QuakeHistory", "QuakeModel", "Postgres", "SystemClock", "CommandLine",
        "StoreTestSupport", "TestSupport",
      ],
      swiftSettings: tests),
    // Values of HTTP's header fields.
    .target(name: "HTTPFields", dependencies: ["QuakeModel"], swiftSettings: strict),
    // Imitates USGS's feeds, their revisions and their faults, for tests and demonstrations.
    .target(
      name: "QuakeSimulator",
      dependencies: [
        "HTTPFields", "QuakeModel", "Compression", "ExplainedErrors", "SystemDescriptors",
        "CMicrohttpd",
      ],
      swiftSettings: unoptimisedInTests,
      linkerSettings: [.linkedLibrary("m")]),  // logarithms and sines
    .testTarget(
      name: "QuakeSimulatorTests",
      dependencies: ["QuakeSimulator", "QuakeModel", "CZlib"],
      swiftSettings: tests),
    .target(
      name: "CommandLine", dependencies: ["SafeText", "SystemClock"],
      swiftSettings: unoptimisedInTests),
    // Options and settings in configuration files.
    .target(
      name: "Configuration", dependencies: ["CommandLine", "CInih"],
      swiftSettings: unoptimisedInTests),
    .target(
      name: "QuakeTool",
      dependencies: [
        "CommandLine", "Configuration", "EmbeddedPostgres", "QuakeRoles", "QuakeSchema",
        "QuakeWorker", "QuakeModel", "Postgres", "ExplainedErrors", "SystemClock",
      ],
      swiftSettings: unoptimisedInTests),

    // The options that select events and changes: on command lines, and as parameters of URLs.
    .target(
      name: "QuakeOptions",
      dependencies: ["CommandLine", "QuakeHistory", "QuakeModel", "SystemClock"],
      swiftSettings: unoptimisedInTests),
    // The same for queries of the events. A module of its own, because quake-watch has no such queries.
    .target(
      name: "QueryOptions",
      dependencies: ["CommandLine", "QuakeOptions", "QuakeQuery", "QuakeModel"],
      swiftSettings: unoptimisedInTests),

    // The health of a store, as the tools report it.
    .target(
      name: "QuakeStatus",
      dependencies: [
        "CommandLine", "QuakeTool", "QuakeWorker", "QuakeHistory", "QuakeSchema", "QuakeModel",
        "Postgres", "SystemClock",
      ], swiftSettings: unoptimisedInTests),

    // Makes feeds sources of imports; QuakeFeed and the store do not import each other.
    .target(
      name: "FeedImport", dependencies: ["QuakeFeed", "QuakeImport", "QuakeModel", "Postgres"],
      swiftSettings: strict),

    .executableTarget(
      name: "quake-ingest",
      dependencies: [
        "CIdleMemory", "QuakeTool", "QuakeOptions", "FeedImport", "QuakeFeed", "QuakeSimulator",
        "QuakeWorker", "QuakeImport", "QuakeQuery", "QuakeHistory", "QuakeSchema", "QuakeModel",
        "Postgres", "Configuration", "CommandLine", "ExplainedErrors", "SystemClock",
      ],
      swiftSettings: unoptimisedInTests, linkerSettings: tool),
    .executableTarget(
      name: "quake-watch",
      dependencies: [
        "ChildProcesses", "CIdleMemory", "Postgres", "QuakeClient", "QuakeOptions", "QuakeTool",
        "QuakeWorker", "QuakeHistory", "QuakeSchema", "EmbeddedPostgres", "QuakeModel",
        "CommandLine", "SystemClock",
      ], swiftSettings: unoptimisedInTests, linkerSettings: tool),
    .executableTarget(
      name: "quake-query",
      dependencies: [
        "ChildProcesses", "QuakeOptions", "QueryOptions", "QuakeTool", "QuakeFormat", "QuakeQuery",
        "QuakeHistory", "QuakeSchema", "QuakeModel", "Compression",
        "Postgres", "CommandLine",
      ],
      swiftSettings: unoptimisedInTests, linkerSettings: tool),
    .executableTarget(
      name: "quake-admin",
      dependencies: [
        "ChildProcesses", "QuakeOptions", "QuakeStatus", "QuakeTool", "FeedImport", "QuakeFeed",
        "QuakeRoles", "QuakeAssociation",
        "QuakeWorker",
        "QuakeImport", "QuakeQuery", "QuakeHistory", "QuakeSchema", "EmbeddedPostgres",
        "QuakeModel", "Postgres", "Configuration", "CommandLine", "SystemClock",
      ],
      swiftSettings: unoptimisedInTests, linkerSettings: tool),

    .executableTarget(
      name: "quake-serve",
      dependencies: [
        "QuakeServer", "QuakeTool", "QuakeSchema", "EmbeddedPostgres", "Postgres", "Configuration",
        "CommandLine", "ExplainedErrors", "SystemClock",
      ],
      swiftSettings: unoptimisedInTests, linkerSettings: tool),

    // The benchmark program, which is not installed.
    .executableTarget(
      name: "quake-bench",
      dependencies: [
        "CIdleMemory", "ChildProcesses", "QuakeTool", "QuakeFeed", "QuakeSimulator", "QuakeSchema",
        "EmbeddedPostgres", "QuakeModel", "Postgres", "CommandLine", "ExplainedErrors",
        "SystemClock",
      ],
      path: "Benchmarks",
      exclude: [
        "contenders/dlt_load.py", "contenders/jq_copy.sh", "contenders/psycopg_copy.py",
        "StreamLoad",
      ],
      swiftSettings: unoptimisedInTests, linkerSettings: tool),

    // Ten thousand clients of quake-serve's stream, and the check that each gets every change once.
    .executableTarget(
      name: "stream-load", dependencies: ["CEpoll", "Postgres", "SystemClock"],
      path: "Benchmarks/StreamLoad", swiftSettings: unoptimisedInTests),

    .executableTarget(
      name: "signal-probe", dependencies: ["CommandLine"], path: "Tests/SignalProbe",
      swiftSettings: tests),
    .target(
      name: "TestSupport",
      dependencies: ["ChildProcesses", "EmbeddedPostgres", "Postgres"],
      path: "Tests/TestSupport",
      swiftSettings: tests),
    // Databases with the schema.
    .target(
      name: "StoreTestSupport", dependencies: ["TestSupport", "QuakeSchema", "Postgres"],
      path: "Tests/StoreTestSupport", swiftSettings: tests),
    .testTarget(
      name: "QuakeModelTests", dependencies: ["QuakeModel", "TestSupport"],
      swiftSettings: tests),
    .testTarget(
      name: "PostgresTests",
      dependencies: ["EmbeddedPostgres", "Postgres", "SystemClock", "TestSupport"],
      swiftSettings: tests),
    .testTarget(
      name: "QuakeStoreTests",
      dependencies: [
        "ChildProcesses", "QuakeAssociation", "QuakeSchema", "QuakeQuery", "QuakeHistory",
        "QuakeImport", "QuakeWorker", "QuakeModel", "EmbeddedPostgres", "Postgres", "SystemClock",
        "StoreTestSupport", "TestSupport",
      ],
      swiftSettings: tests),
    .executableTarget(
      name: "live-probe", dependencies: ["QuakeLive", "QuakeModel"], path: "Tests/LiveProbe",
      swiftSettings: tests),
    .testTarget(
      name: "QuakeLiveTests",
      dependencies: [
        "QuakeStore", "QuakeLive", "QuakeFeed", "QuakeImport", "QuakeSimulator", "EmbeddedPostgres",
        "QuakeSchema", "QuakeQuery", "QuakeHistory", "QuakeModel", "Postgres", "ChildProcesses",
        "SystemClock", "StoreTestSupport", "TestSupport", "live-probe",
      ],
      swiftSettings: tests),
    .testTarget(
      name: "EmbeddedPostgresTests",
      dependencies: ["ChildProcesses", "EmbeddedPostgres", "TestSupport"],
      swiftSettings: tests),
    .testTarget(
      name: "ToolTests",
      dependencies: [
        "StoreTestSupport", "TestSupport", "QuakeClient", "QuakeSimulator", "QuakeModel",
        "EmbeddedPostgres", "Postgres", "SystemClock",
      ],
      exclude: [
        "Association/USGS", "Page/Scenes", "Readers/read_exports.py", "Readers/read_services.py",
        "Readers/read_stream.py",
      ],
      swiftSettings: largestTests),
    .testTarget(
      name: "QuakeRolesTests",
      dependencies: [
        "QuakeRoles", "QuakeAssociation", "QuakeSchema", "QuakeHistory", "QuakeWorker",
        "QuakeModel", "Postgres", "SystemClock", "StoreTestSupport", "TestSupport",
      ], swiftSettings: tests),
    // The guarantees of the change feed under load and faults.
    .testTarget(
      name: "ChangeFeedTests",
      dependencies: [
        "ChildProcesses", "StoreTestSupport", "TestSupport", "QuakeModel", "QuakeSchema",
        "EmbeddedPostgres", "Postgres", "SystemClock", "CZlib",
      ],
      swiftSettings: tests),
    .testTarget(
      name: "QuakeFeedTests",
      dependencies: ["QuakeFeed", "QuakeModel", "ExplainedErrors", "TestSupport", "CZlib"],
      swiftSettings: tests),
    .testTarget(
      name: "CommandLineTests",
      dependencies: [
        "ChildProcesses", "Configuration", "CommandLine", "QuakeModel", "QuakeOptions",
        "SystemClock", "TestSupport", "signal-probe",
      ],
      swiftSettings: tests),
  ],
  cxxLanguageStandard: .cxx17
)
