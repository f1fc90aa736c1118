/// Runs the command that some arguments ask for.
enum Tool {
  static func run(_ arguments: [String]) -> ExitStatus {
    do throws(ToolFailure) {
      switch try Invocation(arguments) {
      case .help(let command):
        Console.print(Help.text(of: command))
        return .success
      case .run(let command, let arguments): return try run(command, arguments)
      }
    } catch {
      Console.complain(error.text)
      return error.status
    }
  }

  private static func run(_ command: ToolCommand, _ arguments: ParsedArguments) throws(ToolFailure) -> ExitStatus {
    switch command {
    case .check: Check.run(arguments.operands, asJSON: arguments.has("json"))
    case .format: Format.run(arguments.operands, onlyChecks: arguments.has("check"))
    case .release: try Release.run(arguments.operands[0], history: arguments.value(of: "history"))
    case .doctor: try Doctor.run(arguments.operands[0], asJSON: arguments.has("json"))
    case .backup:
      try Backup.run(arguments.operands[0], to: arguments.operands[1], replaces: arguments.has("replace"))
    case .dump: try Dump.run(arguments.operands[0], to: arguments.value(of: "output"))
    case .load:
      try Load.run(arguments.operands[0], into: arguments.operands[1], keepsBroken: arguments.has("force"))
    case .copy:
      try Load.copy(arguments.operands[0], to: arguments.operands[1], keepsBroken: arguments.has("force"))
    case .migrate:
      try Migrate.run(
        arguments.operands[0], to: arguments.operands[1], onlyPlans: arguments.has("plan"),
        mayLose: arguments.has("allow-loss"))
    case .browse:
      try Browse.run(arguments.operands[0], writes: arguments.has("write"), port: arguments.value(of: "port"))
    case .diff: try Diff.run(arguments.operands[0], arguments.operands[1], store: arguments.value(of: "store"))
    case .list: try List.run(arguments)
    case .show: try Show.run(arguments.operands[0], arguments.operands[1], asJSON: arguments.has("json"))
    case .query: try Query.run(arguments)
    case .get:
      try Show.get(
        arguments.operands[0], arguments.operands[1], arguments.operands[2], asJSON: arguments.has("json"))
    case .set: try SetValues.run(arguments)
    case .insert: try Insert.run(arguments)
    case .delete: try Delete.run(arguments)
    case .seed: try Seed.run(arguments)
    }
  }
}
