import TrellisCSV

/// The options about the form of a CSV file.
enum CSVOptions {
  static let options: [Command.Option] = [
    .init(name: "separator", value: "S", summary: "what stands between cells: , ; | or tab"),
    .init(name: "null", value: "WORD", summary: "a word that stands for nil, as an empty cell does"),
    .init(name: "decimal-commas", value: nil, summary: "fractions have a comma, as 1,5"),
    .init(name: "list-separator", value: "S", summary: "what stands between the elements of a list; without it, JSON"),
    .init(name: "spreadsheet", value: nil, summary: "texts that look like formulas have an apostrophe before them"),
    .init(name: "backslashes", value: nil, summary: "a backslash changes the next letter, as in files of MySQL"),
  ]

  static func format(_ arguments: ParsedArguments, of command: ToolCommand) throws(ToolFailure) -> CSVFormat {
    var format = CSVFormat()
    if let text = arguments.value(of: "separator") {
      guard let separator = text == "tab" ? .tab : CSVFormat.Separator(rawValue: text) else {
        throw .usage("\(text.inMessage) is none of ',', ';', '|' and tab.", of: command)
      }
      format.separator = separator
    }
    if let text = arguments.value(of: "encoding") {
      guard text == "windows-1252" || text == "unicode" else {
        throw .usage("\(text.inMessage) is none of unicode and windows-1252.", of: command)
      }
      format.encoding = text == "unicode" ? .unicode : .windows1252
    }
    format.null = arguments.value(of: "null")
    format.hasDecimalCommas = arguments.has("decimal-commas")
    format.listSeparator = arguments.value(of: "list-separator")
    format.hasBackslashes = arguments.has("backslashes")
    format.skipsUnknownColumns = arguments.has("skip-unknown")
    format.isForSpreadsheet = arguments.has("spreadsheet")
    return format
  }
}
