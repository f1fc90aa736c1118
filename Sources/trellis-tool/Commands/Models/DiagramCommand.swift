import Foundation
import TrellisDiagram
import TrellisModel

/// `trellis diagram`: a picture of a model.
enum DiagramCommand {
  static func run(_ arguments: ParsedArguments) throws(ToolFailure) -> ExitStatus {
    let formats = ["svg", "mermaid", "dot"].filter(arguments.has)
    guard formats.count < 2 else {
      throw .usage("--\(formats[0]) and --\(formats[1]) exclude each other.", of: .diagram)
    }
    let theme = try theme(arguments, format: formats.first ?? "svg")
    let model = try ModelInput.modelOfAny(arguments.operands[0])
    let diagram = Diagram(
      model, entities: try entities(arguments.value(of: "entities"), of: model),
      details: arguments.has("mapping") ? mapping(of: model) : nil)
    let text =
      switch formats.first {
      case "mermaid": diagram.mermaid()
      case "dot": diagram.dot()
      default: diagram.svg(theme: theme)
      }
    guard let output = arguments.value(of: "output") else {
      Console.print(text)
      return .success
    }
    try OutputFile.replace(output, with: Array(text.utf8))
    return .success
  }

  /// Where each property lies in JSON documents, by the numbers of the entity and the property.
  private static func mapping(of model: Model) -> [[String]] {
    model.entities.map { entity in
      let mapping = DescribedMapping(of: entity, in: model)
      return entity.properties.map { mapping?.text(of: $0) ?? "" }
    }
  }

  private static func theme(_ arguments: ParsedArguments, format: String) throws(ToolFailure) -> DiagramTheme {
    let themes = ["light", "dark"].filter(arguments.has)
    guard themes.count < 2 else { throw .usage("--light and --dark exclude each other.", of: .diagram) }
    guard let theme = themes.first else { return .automatic }
    guard format == "svg" else { throw .usage("--\(theme) is for --svg only.", of: .diagram) }
    return theme == "light" ? .light : .dark
  }

  private static func entities(_ list: String?, of model: Model) throws(ToolFailure) -> Set<Int>? {
    guard let list else { return nil }
    var numbers: Set<Int> = []
    for name in list.split(separator: ",").map({ $0.trimmingCharacters(in: .whitespaces) }) {
      numbers.insert(try model.entity(named: name, for: .diagram).index)
    }
    guard !numbers.isEmpty else { throw .usage("--entities needs names of entities.", of: .diagram) }
    return numbers
  }
}

extension Model {
  /// - Throws: ``ToolFailure`` with the closest name if there is no such entity.
  func entity(named name: String, for command: ToolCommand) throws(ToolFailure) -> Entity {
    if let entity = entity(named: name) { return entity }
    let suggestion = ToolFailure.suggestion(for: name, among: entities.map(\.name))
    throw .usage("The model has no entity \(name.inMessage)\(suggestion)", of: command)
  }
}

// MARK: - Command

extension DiagramCommand {
  static let command = Command(
    operands: "MODEL|STORE", needed: "a MODEL or a STORE", count: 1...1,
    options: [
      .init(name: "svg", value: nil, summary: "write a picture; this is what is written if no format is named"),
      .init(name: "mermaid", value: nil, summary: "write an erDiagram for Mermaid"),
      .init(name: "dot", value: nil, summary: "write a graph for Graphviz"),
      .init(name: "output", value: "FILE", summary: "write to a file, instead of the output"),
      .init(name: "entities", value: "A,B", summary: "show only these entities"),
      .init(name: "mapping", value: nil, summary: "show where properties lie in JSON, instead of their types"),
      .init(name: "light", value: nil, summary: "use light colors, whatever the reader's system uses"),
      .init(name: "dark", value: nil, summary: "use dark colors, whatever the reader's system uses"),
    ], summary: "draw the entities of a model and their relationships",
    details: """
      STORE is a SQLite file, a JSON document or a schema of a server, which carries its model. The same model gives the
      same picture. Exit 0 if it is written, 1 if the model has errors or the store is damaged, 66 if a file cannot be read,
      74 if one cannot be written.
      """
  ) { arguments throws(ToolFailure) in try run(arguments) }
}
