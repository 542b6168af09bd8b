@_exported public import EmbeddedPostgres
@_exported public import Postgres
@_exported public import QuakeFeed
@_exported public import QuakeHistory
@_exported public import QuakeImport
@_exported public import QuakeModel
@_exported public import QuakeQuery
@_exported public import QuakeSchema
@_exported public import QuakeWorker

// The store under one name, for other programs: `import QuakeStore` brings in what follows.
@_exported public import enum Basics.ErrorCategory
@_exported public import protocol Basics.ExplainedError
