import Foundation
import TrellisCSV
import TrellisDynamic
import TrellisJSON
import TrellisModel
import TrellisRuntime

/// `trellis import-json` and `trellis import-csv`: objects of files of others, by the mapping of the store's model.
enum ObjectImport {
  static func run(_ arguments: ParsedArguments, of command: ToolCommand) throws(ToolFailure) -> ExitStatus {
    let path = arguments.operands[0]
    let options = try Options(arguments, of: command)
    guard let model = arguments.value(of: "model") else {
      guard ServerPlace(path) != nil || FileManager.default.fileExists(atPath: path) else {
        throw InputFile.unreadable(path, "There is no such file; --model MODEL makes a new store.")
      }
      let container = try StoreOperand(path).container(readOnly: !options.isWritten)
      defer { container.close() }
      return try run(path, container, options).show(asJSON: options.isJSON)
    }
    let description = try ModelInput(model).model.description
    let target = try NewStore(path)
    var outcome: ImportOutcome?
    if options.isWritten {
      if let outcome = try BulkImport.run(description, target, options) { return outcome.show(asJSON: options.isJSON) }
      let status = try target.fill(keepsBroken: false) { () throws(ToolFailure) in
        let done = try ToolFailure.catching(path) {
          let container = try PersistentContainer(
            model: ObjectModel(dynamic: description), store: target.configuration, log: nil)
          defer { container.close() }
          return try run(path, container, options, isNew: true)
        }
        outcome = done
        guard done.isGivenUp else { return }
        _ = done.show(asJSON: options.isJSON)
        throw ToolFailure(.failure, "")
      }
      return max(status, outcome?.show(asJSON: options.isJSON) ?? status)
    }
    let container = try ToolFailure.catching(path) {
      try PersistentContainer(model: ObjectModel(dynamic: description), store: .memory, log: nil)
    }
    defer { container.close() }
    return try run(path, container, options).show(asJSON: options.isJSON)
  }

  /// Imports into a context, or into a child of it that is not saved to the store.
  ///
  /// - Parameter isNew: Whether the store is thrown away if anything is wrong, so that it can be filled in batches.
  private static func run(
    _ path: String, _ container: PersistentContainer, _ options: Options, isNew: Bool = false
  ) throws(ToolFailure) -> ImportOutcome {
    let progress = Progress("elements")
    defer { progress.end() }
    return try ToolFailure.catching(path) {
      let base = container.newContext()
      let context = options.isWritten ? base : base.newChildContext()
      let inputs = try options.inputs(of: context.model)
      let isWhole = options.format != nil && options.rejection == .everything
      do {
        let report = try context.importJSON(
          inputs, mergePolicy: options.policy, rejecting: isWhole && isNew ? .objects : options.rejection,
          pieces: ManagedObjectContext.pieceOfInput,
          failureLimit: isWhole ? ImportOutcome.mostFailures : nil
        ) { progress.show($0.elements) }
        if isWhole, !report.rejected.isEmpty { return ImportOutcome(report.rejected) }
        return ImportOutcome(report, isWritten: options.isWritten)
      } catch let error as JSONImportError {
        if error.failures.isEmpty { throw ToolFailure(.failure, "error: \(error.message)") }
        return ImportOutcome(error.failures)
      }
    }
  }
}

extension ObjectImport {
  /// What the arguments ask for.
  struct Options {
    let inputs: [Input]
    /// The form of the files; nil for JSON.
    let format: CSVFormat?
    let policy: MergePolicy
    let rejection: JSONRejection
    let isWritten: Bool
    let isJSON: Bool

    struct Input {
      let entity: String
      /// The path of the file; `-` for the standard input.
      let file: String
      /// The path to the elements.
      let path: String?
      let layout: JSONLayout
    }

    private static let policies: [String: MergePolicy] = [
      "objectTrump": .objectTrump, "storeTrump": .storeTrump, "overwrite": .overwrite, "rollback": .rollback,
      "error": .error,
    ]
    private static let rejections: [String: JSONRejection] = ["objects": .objects, "everything": .everything]

    init(_ arguments: ParsedArguments, of command: ToolCommand) throws(ToolFailure) {
      let (pairs, paths) = (Array(arguments.operands.dropFirst()), arguments.values(of: "at"))
      guard pairs.count.isMultiple(of: 2) else {
        throw .usage("The ENTITY \(pairs[pairs.count - 1].inMessage) needs a FILE.", of: command)
      }
      guard paths.count <= 1 || paths.count == pairs.count / 2 else {
        throw .usage("--at is given once, or once for each FILE.", of: command)
      }
      inputs = (0..<pairs.count / 2).map { number in
        let file = pairs[2 * number + 1]
        return Input(
          entity: pairs[2 * number], file: file, path: paths.count > 1 ? paths[number] : paths.first,
          layout: arguments.has("lines") ? .lines : JSONLayout(ofFile: file))
      }
      if inputs.count(where: { $0.file == "-" }) > 1 { throw .usage("'-' is given twice.", of: command) }
      format = try command == .importCSV ? CSVOptions.format(arguments, of: command) : nil
      policy = try Self.word("policy", arguments, Self.policies, command) ?? .objectTrump
      rejection =
        try Self.word("rejecting", arguments, Self.rejections, command) ?? (format == nil ? .objects : .everything)
      isWritten = arguments.has("write")
      isJSON = arguments.has("json")
    }

    private static func word<Value>(
      _ option: String, _ arguments: ParsedArguments, _ values: [String: Value], _ command: ToolCommand
    ) throws(ToolFailure) -> Value? {
      guard let text = arguments.value(of: option) else { return nil }
      if let value = values[text] { return value }
      let names = values.keys.sorted()
      let list = names.dropLast().joined(separator: ", ") + " and " + (names.last ?? "")
      throw .usage("\(text.inMessage) is none of \(list).", of: command)
    }

    /// The inputs. What cannot be read is found out before anything is imported.
    func inputs(of model: Model) throws -> [JSONInput] {
      try inputs.map { input in
        let entity = try model.needEntity(input.entity).index
        let file = input.file
        if file != "-" { try InputFile.needRegular(file, mayBePipe: true) }
        let found = JSONInput(entity: entity, named: file, at: input.path, layout: input.layout) {
          if file == "-" { return .standardInput }
          do { return try FileHandle(forReadingFrom: URL(filePath: file)) } catch {
            throw InputFile.unreadable(file, "The file cannot be read.")
          }
        }
        return format.map(found.asCSV) ?? found
      }
    }
  }
}
