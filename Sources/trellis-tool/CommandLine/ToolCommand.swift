import TrellisModel

/// The names of the commands, in the order of the help.
enum ToolCommand: String, CaseIterable {
  case check, format, release, rehearse, diff, diagram, describe, types
  case doctor, backup, dump, load, copy, rekey, migrate, browse, mcp
  case sync, answer, replicas
  case `import`, pull
  case list, show, query, get, set, insert, delete, seed
  case history
  case diffData = "diff-data"
  case restore, undo
  case importJSON = "import-json"
  case exportJSON = "export-json"
  case importCSV = "import-csv"
  case exportCSV = "export-csv"
  case completion

  var command: Command {
    switch self {
    case .check: Check.command
    case .format: Format.command
    case .release: Release.command
    case .rehearse: Rehearse.command
    case .diff: Diff.command
    case .diagram: DiagramCommand.command
    case .describe: Describe.command
    case .types: Types.command
    case .doctor: Doctor.command
    case .backup: Backup.command
    case .dump: Dump.command
    case .load: Load.command
    case .copy: Load.copying
    case .rekey: Rekey.command
    case .migrate: Migrate.command
    case .browse: Browse.command
    case .mcp: Serve.command
    case .sync: Sync.command
    case .answer: Answer.command
    case .replicas: Replicas.command
    case .import: Import.command
    case .pull: Pull.command
    case .list: List.command
    case .show: Show.command
    case .query: Query.command
    case .get: Show.getting
    case .set: SetValues.command
    case .insert: Insert.command
    case .delete: Delete.command
    case .seed: Seed.command
    case .history: History.command
    case .diffData: DiffData.command
    case .restore: Restore.command
    case .undo: Undo.command
    case .importJSON: ImportJSON.command
    case .exportJSON: ExportJSON.command
    case .importCSV: ImportCSV.command
    case .exportCSV: ExportCSV.command
    case .completion: Completion.command
    }
  }
}

extension ToolCommand {
  /// The command with a name, or the one that does what other tools call by it; nil if no name is like it.
  static func meant(by name: String) -> String? {
    let word = name.lowercased()
    for (command, words) in wordsOfOthers where words.contains(word) { return command.rawValue }
    return NearestName.closest(to: name, among: allCases.map(\.rawValue) + ["help"])
  }

  private static let wordsOfOthers: [(command: ToolCommand, words: [String])] = [
    (.query, ["find", "select", "search", "filter", "where", "fetch", "count", "sql"]),
    (.list, ["ls", "all", "entities", "tables"]), (.show, ["cat", "print", "view", "read"]),
    (.insert, ["add", "create", "new"]), (.set, ["update", "edit", "change"]),
    (.delete, ["rm", "remove", "drop", "erase"]), (.check, ["lint", "verify", "validate"]),
    (.doctor, ["fsck", "repair"]), (.history, ["log"]), (.copy, ["cp", "clone"]), (.dump, ["export"]),
    (.browse, ["open", "gui"]), (.answer, ["serve", "server"]),
  ]
}
