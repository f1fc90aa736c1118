/// The names of the commands, in the order of the help.
enum ToolCommand: String, CaseIterable {
  case check, format, release, diff, diagram, describe
  case doctor, backup, dump, load, copy, migrate, browse
  case `import`
  case list, show, query, get, set, insert, delete, seed
  case importJSON = "import-json"
  case exportJSON = "export-json"
  case completion

  var command: Command {
    switch self {
    case .check: Check.command
    case .format: Format.command
    case .release: Release.command
    case .diff: Diff.command
    case .diagram: DiagramCommand.command
    case .describe: Describe.command
    case .doctor: Doctor.command
    case .backup: Backup.command
    case .dump: Dump.command
    case .load: Load.command
    case .copy: Load.copying
    case .migrate: Migrate.command
    case .browse: Browse.command
    case .import: Import.command
    case .list: List.command
    case .show: Show.command
    case .query: Query.command
    case .get: Show.getting
    case .set: SetValues.command
    case .insert: Insert.command
    case .delete: Delete.command
    case .seed: Seed.command
    case .importJSON: ImportJSON.command
    case .exportJSON: ExportJSON.command
    case .completion: Completion.command
    }
  }
}
