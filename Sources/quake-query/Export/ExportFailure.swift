/// Why an export could not be written.
struct ExportFailure: Error {
  let message: String
  let detail: String
}
