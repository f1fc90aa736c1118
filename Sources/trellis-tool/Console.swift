import Foundation

/// The streams of the process. What was asked for goes to the output, everything else to the errors.
enum Console {
  static func print(_ text: String) { write(text, to: .standardOutput) }
  static func complain(_ text: String) { write(text, to: .standardError) }

  /// Whether a stream is shown to a person.
  static func isTerminal(_ stream: FileHandle) -> Bool {
    #if os(Windows)
      false
    #else
      isatty(stream.fileDescriptor) == 1
    #endif
  }

  /// A reader that has gone away wants no more text.
  private static func write(_ text: String, to stream: FileHandle) {
    if !text.isEmpty { try? stream.write(contentsOf: Data(text.utf8)) }
  }
}
