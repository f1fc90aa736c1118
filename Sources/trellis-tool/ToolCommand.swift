/// The commands, with everything that parsing and help have to know of them.
enum ToolCommand: String, CaseIterable {
  case check, format, release, diff
  case doctor, backup, dump, load, copy, migrate, browse
  case list, show, query, get, set, insert, delete, seed

  struct Option {
    let name: String
    /// What stands for the value in the help; nil for an option without a value.
    let value: String?
    let summary: String
  }

  /// What stands for the operands in the help.
  var operands: String {
    switch self {
    case .check, .format: "MODEL..."
    case .release: "MODEL"
    case .diff: "OLD NEW"
    case .doctor, .dump, .browse: "STORE"
    case .backup: "STORE COPY"
    case .load: "DOCUMENT STORE"
    case .copy: "STORE NEW"
    case .migrate: "STORE MODEL"
    case .list, .show, .query, .get, .set, .insert, .delete, .seed: explanation?.operands ?? ""
    }
  }

  /// The operands in a sentence.
  var neededOperands: String {
    switch self {
    case .check, .format: "one MODEL at least"
    case .release: "a MODEL"
    case .diff: "OLD and NEW"
    case .doctor, .dump, .browse: "a STORE"
    case .backup: "a STORE and the name of its COPY"
    case .load: "a DOCUMENT and the name of a STORE"
    case .copy: "a STORE and the name of a NEW one"
    case .migrate: "a STORE and a MODEL"
    case .list, .show, .query, .get, .set, .insert, .delete, .seed: explanation?.needed ?? ""
    }
  }

  var operandCount: ClosedRange<Int> {
    switch self {
    case .check, .format: 1...Int.max
    case .release, .doctor, .dump, .browse: 1...1
    case .diff, .backup, .load, .copy, .migrate: 2...2
    case .list, .show, .query, .get, .set, .insert, .delete, .seed: explanation?.count ?? 0...0
    }
  }

  var options: [Option] {
    switch self {
    case .check: [Option(name: "json", value: nil, summary: "print the diagnostics as a list of JSON objects")]
    case .format:
      [Option(name: "check", value: nil, summary: "change nothing, list the files that would change; exit 1 if any")]
    case .release:
      [
        Option(
          name: "history", value: "FOLDER",
          summary: "the folder of the versions, instead of Diary.history beside Diary.model.json")
      ]
    case .diff:
      [Option(name: "store", value: "FILE", summary: "count what the migration means for the rows of this store")]
    case .doctor: [Option(name: "json", value: nil, summary: "print everything as one JSON object")]
    case .backup: [Option(name: "replace", value: nil, summary: "replace an existing file")]
    case .dump: [Option(name: "output", value: "FILE", summary: "write to a new file instead of the output")]
    case .load, .copy:
      [Option(name: "force", value: nil, summary: "keep the new store even if it breaks rules of its model")]
    case .migrate:
      [
        Option(name: "plan", value: nil, summary: "only say what would be done"),
        Option(
          name: "allow-loss", value: nil, summary: "delete what MODEL does not account for; a copy is written before"),
      ]
    case .browse:
      [
        Option(name: "write", value: nil, summary: "let the pages change the store, under the rules of its model"),
        Option(name: "port", value: "NUMBER", summary: "listen on this port instead of a free one"),
      ]
    case .list, .show, .query, .get, .set, .insert, .delete, .seed: explanation?.options ?? []
    }
  }

  /// What the command does, in one line.
  var summary: String {
    switch self {
    case .check: "say what is wrong with models"
    case .format: "write model files in the canonical layout"
    case .release: "keep a model as the next version of its history"
    case .diff: "show how stored data of one model becomes that of another"
    case .doctor: "check a store, and say how large it is and what would make it faster"
    case .backup: "copy a store while programs use it"
    case .dump: "write everything in a store as a JSON document"
    case .load: "make a store from a JSON document"
    case .copy: "make a store from another one"
    case .migrate: "bring a store to a newer version of its model"
    case .browse: "show a store in a browser on this machine"
    case .list, .show, .query, .get, .set, .insert, .delete, .seed: explanation?.summary ?? ""
    }
  }

  /// What a caller should know beyond the summary.
  var details: String {
    switch self {
    case .check:
      """
      The models count as those of one target: their types need different names. The released versions beside a model
      are checked too. Exit 0 if there are no errors, 1 if there are, 66 if a file cannot be read.
      """
    case .format:
      """
      Only white space changes. A file with errors in its JSON stays as it is. Exit 0 if all is done, 1 if a file has
      such errors, 66 if a file cannot be read, 74 if one cannot be written.
      """
    case .release:
      """
      Nothing is written if the newest version has the same model. Exit 0 if it is or was released, 1 if the model has
      errors or a released version was edited or removed, 66 if a file cannot be read, 74 if one cannot be written.
      """
    case .diff:
      """
      OLD and NEW are model files or released versions. OLD may also be the folder of a history: then each version is
      compared with NEW. Exit 0 if nothing is asked or lost, 2 if there are open questions, 3 if data is lost with the
      consent of the model.
      """
    case .doctor:
      """
      Nothing in the store changes, and programs may go on using it. Exit 0 if all is well, 1 if something is broken, 66
      if the file cannot be read.
      """
    case .backup:
      """
      The copy shows the store at one moment. External data is copied with it. Exit 0 if the copy is complete; otherwise
      nothing is left of it.
      """
    case .dump:
      """
      The document is one that `.json(at:)` opens: keys, versions, order and the history of the model are kept, and
      external data is written into it. The same contents give the same document, whatever kind of store has them.
      """
    case .load:
      """
      A DOCUMENT is what `dump` writes or `.json(at:)` keeps; `-` is the input. STORE is a new SQLite file, or a document
      if its name ends in `.json`. The new store is checked by the rules of its model; one that breaks rules is not kept.
      Exit 0 if all is well, 1 if the document has mistakes or breaks rules.
      """
    case .copy:
      """
      NEW is a new SQLite file, or a document if its name ends in `.json`. Keys, versions, order and external data are
      kept. The new store is checked by the rules of its model; one that breaks rules is not kept.
      """
    case .migrate:
      """
      MODEL is the model file of the program. The plan is printed first. Steps in Swift are part of the program, so a
      model with such steps is refused. Exit 0 if the store has the model now, 2 if the plan has open questions; with
      --plan as `diff`.
      """
    case .browse:
      """
      The address is printed. It has a random part, which is good until the command ends, and leads to this machine only.
      Without --write nothing can be changed. A store that programs have open is shown as they save it.
      """
    case .list, .show, .query, .get, .set, .insert, .delete, .seed: explanation?.details ?? ""
    }
  }
}
