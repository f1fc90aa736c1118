/// Runs the command that some arguments ask for.
enum Tool {
  static func run(_ arguments: [String]) -> ExitStatus {
    do throws(ToolFailure) {
      switch try Invocation(arguments) {
      case .help(let command):
        Console.print(Help.text(of: command))
        return .success
      case .run(let command, let arguments): return try command.command.run(arguments)
      }
    } catch {
      Console.complain(error.text)
      return error.status
    }
  }
}
