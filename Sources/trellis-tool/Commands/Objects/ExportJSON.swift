import TrellisDynamic
import TrellisJSON
import TrellisModel
import TrellisRuntime

/// `trellis export-json`: objects as nested JSON, by the mapping of the store's model.
enum ExportJSON {
  static func run(_ arguments: ParsedArguments) throws(ToolFailure) -> ExitStatus {
    let operands = arguments.operands
    let container = try StoreOperand(operands[0]).container(readOnly: true)
    defer { container.close() }
    try ToolFailure.catching(operands[0]) {
      let context = container.newContext()
      let request = try ObjectRequest(
        operands[1], where: operands.count > 2 ? operands[2] : nil, Array(operands.dropFirst(3)), arguments,
        of: .exportJSON, isLimited: false, in: context)
      let nesting = try arguments.value(of: "nest").map { try paths($0, from: request.entity, in: context.model) }
      let layout: JSONLayout =
        arguments.has("lines") ? .lines : JSONLayout(ofFile: arguments.value(of: "output") ?? "")
      let nestingRemedy = "An object would have too many others nested in it: name those to be nested by --nest."
      try ExportOutput(file: arguments.value(of: "output")).write { error in
        error.isTooLarge ? nestingRemedy : error.message
      } _: { write in
        try context.exportJSON(request.request, layout: layout, nesting: nesting, to: write)
      }
    }
    return .success
  }

  /// The relationships on some paths, with those on the way to them, by their numbers. None for `none`.
  private static func paths(_ text: String, from entity: Entity, in model: Model) throws(ToolFailure) -> Set<[Int]> {
    var paths: Set<[Int]> = []
    if text == "none" { return paths }
    for path in text.split(separator: ",") {
      var (place, numbers) = (entity, [Int]())
      for name in path.split(separator: ".", omittingEmptySubsequences: false).map(String.init) {
        // A relationship of a child entity may be meant.
        let found = place.subtree.lazy.compactMap { model.entities[$0].property(named: name)?.relationship }.first
        guard let relationship = found else {
          let names = place.properties.compactMap { $0.relationship?.name }
          throw ToolFailure(
            .failure,
            "error: '\(place.name)' has no relationship \(name.inMessage)\(ToolFailure.suggestion(for: name, among: names))"
          )
        }
        numbers.append(relationship.index)
        paths.insert(numbers)
        place = model.entities[relationship.destination]
      }
    }
    return paths
  }
}

// MARK: - Command

extension ExportJSON {
  static let command = Command(
    operands: "STORE ENTITY [FORMAT [VALUE...]]", needed: "a STORE and an ENTITY", count: 2...Int.max,
    options: [
      .init(name: "nest", value: "PATHS", summary: "nest only these partners, as moves,moves.kind; none for none"),
      .init(name: "lines", value: nil, summary: "write an object in each line, as in .ndjson and .jsonl files"),
      .init(name: "output", value: "FILE", summary: "write to a new file instead of the output"),
    ] + Command.Option.pages,
    summary: "write objects as nested JSON, by the mapping in the model",
    details: """
      FORMAT is a predicate, and each VALUE stands for one %@ in it, as for query. Partners that the mapping nests are
      written inside of objects, and others by their key. What is written is read again by import-json.
      """
  ) { arguments throws(ToolFailure) in try run(arguments) }
}
