package import Basics

/// How messages are written to standard output.
package struct OutputPlan: SinkPlan {
  /// How a line is written.
  package var form = MessageForm.json(nil)
  /// The descriptor; tests choose another one.
  package var descriptor: Int32 = 1

  package init() {}

  package var shown: String { "standard output" }

  package func sink(in loop: CurlLoop) -> any Sink { OutputSink(self) }
}
