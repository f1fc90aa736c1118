/// The commands, with everything that parsing and help have to know of them.
enum ToolCommand: String, CaseIterable {
  case check, format, release, diff
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
    case .list, .show, .query, .get, .set, .insert, .delete, .seed: explanation?.operands ?? ""
    }
  }

  /// The operands in a sentence.
  var neededOperands: String {
    switch self {
    case .check, .format: "one MODEL at least"
    case .release: "a MODEL"
    case .diff: "OLD and NEW"
    case .list, .show, .query, .get, .set, .insert, .delete, .seed: explanation?.needed ?? ""
    }
  }

  var operandCount: ClosedRange<Int> {
    switch self {
    case .check, .format: 1...Int.max
    case .release: 1...1
    case .diff: 2...2
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
    case .list, .show, .query, .get, .set, .insert, .delete, .seed: explanation?.details ?? ""
    }
  }
}
