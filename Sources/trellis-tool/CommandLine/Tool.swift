/// Runs the command that some arguments ask for.
enum Tool {
  static func run(_ arguments: [String]) -> ExitStatus {
    let status = runCommand(arguments)
    guard let failure = Console.failure else { return status }
    if status == failure.status {
      Console.complain(failure.text)
    } else {
      // A change of a store is made, although it was not told.
      Console.complain(
        failure.text.dropLast() + " Apart from its output, the command ended with exit code \(status.rawValue).\n")
    }
    return failure.status
  }

  private static func runCommand(_ arguments: [String]) -> ExitStatus {
    do throws(ToolFailure) {
      switch try Invocation(arguments) {
      case .help(let command):
        Console.print(Help.text(of: command))
        return .success
      case .run(let command, let arguments): return try command.command.run(arguments)
      }
    } catch {
      if error.text != Console.failure?.text { Console.complain(error.text) }
      return error.status
    }
  }
}
