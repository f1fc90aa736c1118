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
    let diagram = Diagram(model, entities: try entities(arguments.value(of: "entities"), of: model))
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
