import Foundation
import TrellisDynamic
import TrellisJSON
import TrellisModel
import TrellisRuntime

/// `trellis import-json`: objects of nested JSON, by the mapping of the store's model.
enum ImportJSON {
  static func run(_ arguments: ParsedArguments) throws(ToolFailure) -> ExitStatus {
    let path = arguments.operands[0]
    let options = try Options(arguments)
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
      let status = try target.fill(keepsBroken: false) { () throws(ToolFailure) in
        let done = try ToolFailure.catching(path) {
          let container = try PersistentContainer(
            model: ObjectModel(dynamic: description), store: target.configuration, log: nil)
          defer { container.close() }
          return try run(path, container, options)
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
  private static func run(
    _ path: String, _ container: PersistentContainer, _ options: Options
  ) throws(ToolFailure) -> ImportOutcome {
    let progress = Progress("elements")
    defer { progress.end() }
    return try ToolFailure.catching(path) {
      let base = container.newContext()
      let context = options.isWritten ? base : base.newChildContext()
      let inputs = try options.inputs(of: context.model)
      do {
        let report = try context.importJSON(
          inputs, mergePolicy: options.policy, rejecting: options.rejection
        ) { progress.show($0.elements) }
        return ImportOutcome(report, isWritten: options.isWritten)
      } catch let error as JSONImportError {
        if error.failures.isEmpty { throw ToolFailure(.failure, "error: \(error.message)") }
        return ImportOutcome(error)
      }
    }
  }
}

extension ImportJSON {
  /// What the arguments ask for.
  struct Options {
    private let inputs: [Input]
    let policy: MergePolicy
    let rejection: JSONRejection
    let isWritten: Bool
    let isJSON: Bool

    private struct Input {
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

    init(_ arguments: ParsedArguments) throws(ToolFailure) {
      let (pairs, paths) = (Array(arguments.operands.dropFirst()), arguments.values(of: "at"))
      guard pairs.count.isMultiple(of: 2) else {
        throw .usage("The ENTITY \(pairs[pairs.count - 1].inMessage) needs a FILE.", of: .importJSON)
      }
      guard paths.count <= 1 || paths.count == pairs.count / 2 else {
        throw .usage("--at is given once, or once for each FILE.", of: .importJSON)
      }
      inputs = (0..<pairs.count / 2).map { number in
        let file = pairs[2 * number + 1]
        return Input(
          entity: pairs[2 * number], file: file, path: paths.count > 1 ? paths[number] : paths.first,
          layout: arguments.has("lines") ? .lines : JSONLayout(ofFile: file))
      }
      if inputs.count(where: { $0.file == "-" }) > 1 { throw .usage("'-' is given twice.", of: .importJSON) }
      policy = try Self.word("policy", arguments, Self.policies) ?? .objectTrump
      rejection = try Self.word("rejecting", arguments, Self.rejections) ?? .objects
      isWritten = arguments.has("write")
      isJSON = arguments.has("json")
    }

    private static func word<Value>(
      _ option: String, _ arguments: ParsedArguments, _ values: [String: Value]
    ) throws(ToolFailure) -> Value? {
      guard let text = arguments.value(of: option) else { return nil }
      if let value = values[text] { return value }
      let names = values.keys.sorted()
      let list = names.dropLast().joined(separator: ", ") + " and " + (names.last ?? "")
      throw .usage("\(text.inMessage) is none of \(list).", of: .importJSON)
    }

    /// The inputs. What cannot be read is found out before anything is imported.
    func inputs(of model: Model) throws -> [JSONInput] {
      try inputs.map { input in
        let entity = try model.needEntity(input.entity).index
        let file = input.file
        if file != "-" { try InputFile.needRegular(file, mayBePipe: true) }
        return JSONInput(entity: entity, named: file, at: input.path, layout: input.layout) {
          if file == "-" { return .standardInput }
          do { return try FileHandle(forReadingFrom: URL(filePath: file)) } catch {
            throw InputFile.unreadable(file, "The file cannot be read.")
          }
        }
      }
    }
  }
}

// MARK: - Command

extension ImportJSON {
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
  ) { arguments throws(ToolFailure) in try run(arguments) }
}
