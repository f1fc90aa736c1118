import Foundation
import TrellisModel

/// `trellis mcp`: a store for language models, by the Model Context Protocol on the standard input and output.
enum Serve {
  /// The greatest number of bytes of a message.
  private static let mostBytes = 8_000_000
  private static let usualSeconds = 30

  static func run(_ arguments: ParsedArguments) throws(ToolFailure) -> ExitStatus {
    let seconds = Int(arguments.value(of: "timeout") ?? "\(usualSeconds)") ?? 0
    guard (1...86_400).contains(seconds) else {
      throw .usage("--timeout is a number of seconds from 1 to 86400.", of: .mcp)
    }
    let store = ServedStore(
      path: arguments.operands[0], isWritable: arguments.has("write"), author: arguments.value(of: "author") ?? "mcp",
      modelFile: arguments.value(of: "model"))
    // A store that cannot be opened is reported before a client waits for an answer.
    _ = try StoreOperand(store.path)
    if let file = store.modelFile { _ = try ModelInput(file) }
    let output = Locked(())
    let session = ProtocolSession(ProtocolServer(store), seconds: seconds) { line in
      output.withLock { _ in Console.print(line + "\n") }
    }
    var reader = LineReader(mostBytes: mostBytes)
    while Console.isOpen, let line = reader.next() {
      switch line {
      case .text(let bytes): session.receive(bytes)
      case .tooLong: session.refuseLine(longerThan: mostBytes)
      }
    }
    session.finish()
    return .success
  }
}

// MARK: - Command

extension Serve {
  static let command = Command(
    operands: "STORE", needed: "a STORE", count: 1...1,
    options: [
      .init(name: "write", value: nil, summary: "let the client change the store, under the rules of its model"),
      .init(name: "author", value: "NAME", summary: "the author of the changes in the history, instead of mcp"),
      .init(
        name: "model", value: "MODEL", summary: "the model file of the program, which diff compares the store with"),
      .init(name: "timeout", value: "SECONDS", summary: "end a call after this time, instead of 30 seconds"),
    ], summary: "serve a store to language models, by the Model Context Protocol",
    details: """
      The client starts the command and speaks to it on its standard input and output, one JSON message a line. It ends with
      the input. Without --write the store is only read, and no tool changes it.
      """
  ) { arguments throws(ToolFailure) in try run(arguments) }
}
