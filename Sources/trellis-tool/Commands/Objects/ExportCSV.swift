import TrellisCSV
import TrellisDynamic
import TrellisJSON
import TrellisRuntime

/// `trellis export-csv`: objects as a table, by the mapping of the store's model.
enum ExportCSV {
  static func run(_ arguments: ParsedArguments) throws(ToolFailure) -> ExitStatus {
    let operands = arguments.operands
    let format = try CSVOptions.format(arguments, of: .exportCSV)
    let columns = arguments.value(of: "columns").map { $0.split(separator: ",").map(String.init) }
    let container = try StoreOperand(operands[0]).container(readOnly: true)
    defer { container.close() }
    try ToolFailure.catching(operands[0]) {
      let context = container.newContext()
      let request = try ObjectRequest(
        operands[1], where: arguments.value(of: "where"), [], arguments, of: .exportCSV, isLimited: false, in: context)
      let file = operands.count > 2 && operands[2] != "-" ? operands[2] : nil
      try ExportOutput(file: file).write { write in
        try context.exportCSV(request.request, format: format, columns: columns, to: write)
      }
      if columns == nil {
        for (property, reason) in try context.propertiesWithoutColumn(request.entity.index) {
          Console.complain("not written: \(property), because \(reason)\n")
        }
      }
    }
    return .success
  }
}

// MARK: - Command

extension ExportCSV {
  static let command = Command(
    operands: "STORE ENTITY [FILE]", needed: "a STORE and an ENTITY", count: 2...3,
    options: [
      .init(name: "where", value: "FORMAT", summary: "only the objects that match a predicate"),
      .init(name: "columns", value: "NAMES", summary: "write these columns, by their names in the file"),
    ] + Command.Option.pages + CSVOptions.options,
    summary: "write objects as CSV, by the mapping in the model",
    details: """
      FILE is a new file; without it, the output is written. Columns have the names and paths of the model's "json", and
      partners are written by their keys. nil is an empty cell, and the empty text is "". What is written is read again by
      import-csv, with the same options. With --spreadsheet the file begins with a byte order mark, and texts that begin with
      =, +, -, @, ', a tab or a return have an apostrophe before them, so that no spreadsheet runs them as formulas.
      """
  ) { arguments throws(ToolFailure) in try run(arguments) }
}
