/// `trellis import-csv`: objects of tables in CSV, by the mapping of the store's model.
enum ImportCSV {
  static let command = Command(
    operands: "STORE ENTITY FILE [ENTITY FILE...]", needed: "a STORE, an ENTITY and a FILE", count: 3...Int.max,
    options: [
      .init(name: "policy", value: "POLICY", summary: "what happens to objects that the store has"),
      .init(name: "rejecting", value: "WHAT", summary: "leave out objects with mistakes, or everything"),
      .init(name: "model", value: "MODEL", summary: "make a new STORE of the model in a file"),
      .init(name: "skip-unknown", value: nil, summary: "pass over columns that ENTITY does not have"),
      .init(name: "encoding", value: "NAME", summary: "unicode, or windows-1252"),
    ] + CSVOptions.options + [.write, .json],
    summary: "bring objects from CSV, by the mapping in the model",
    details: """
      FILE is a table with the names of its columns in the first line, or `-` for the input. Columns have the names and paths
      of the model's "json" of ENTITY; partners are found by their keys. An empty cell is nil, and "" the empty text. Several
      files are one import. Objects are found by the key that the model names. POLICY is as for import-json. WHAT is
      everything (the default: a file with a mistake is refused) or objects.

      Without --write, nothing is written: the import is checked by all rules of the model, and told, and the exit code
      is 2. Mistakes are printed with line and column, and the exit code is 1. Hooks do not run, since they are code of the
      program.
      """
  ) { arguments throws(ToolFailure) in try ObjectImport.run(arguments, of: .importCSV) }
}
