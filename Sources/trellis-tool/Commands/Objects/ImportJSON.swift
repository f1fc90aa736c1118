/// `trellis import-json`: objects of nested JSON, by the mapping of the store's model.
enum ImportJSON {
  static let command = Command(
    operands: "STORE ENTITY FILE [ENTITY FILE...]", needed: "a STORE, an ENTITY and a FILE", count: 3...Int.max,
    options: [
      .init(
        name: "at", value: "PATH", summary: "where the objects are in the document, as results[*]", isRepeatable: true),
      .init(name: "lines", value: nil, summary: "each line is a JSON value, as in .ndjson and .jsonl files"),
      .init(name: "policy", value: "POLICY", summary: "what happens to objects that the store has"),
      .init(name: "rejecting", value: "WHAT", summary: "leave out objects with mistakes, or everything"),
      .init(name: "model", value: "MODEL", summary: "make a new STORE of the model in a file"),
      .write, .json,
    ],
    summary: "bring objects from nested JSON, by the mapping in the model",
    details: """
      FILE is a JSON document, or `-` for the input. Its elements are objects of ENTITY, which has "json" in the model.
      Several files are one import: objects may refer to others in any file, whatever the order. --at is given once for
      all of them, or once for each. Objects are found by the key that the model names. POLICY is objectTrump (FILE wins,
      the default), storeTrump (FILE fills what is nil), overwrite (what is absent in FILE gets its default), rollback
      (objects of the store stay) or error (they are mistakes). WHAT is objects (the default) or everything.

      Without --write, nothing is written: the import is checked by all rules of the model, and told, and the exit code
      is 2. Each object that cannot be imported is printed with its place, and the exit code is 1. Hooks do not run, since
      they are code of the program.
      """
  ) { arguments throws(ToolFailure) in try ObjectImport.run(arguments, of: .importJSON) }
}
