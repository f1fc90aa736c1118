package import TrellisModel

/// A picture of a model: a box for each entity, and a line for each relationship.
///
/// ```swift
/// let svg = Diagram(model).svg()
/// ```
///
/// The picture depends on the model and the details only, so that it can be compared and committed.
package struct Diagram: Sendable {
  private let model: Model
  /// The numbers of the entities to show.
  private let entities: Set<Int>
  private let details: [[String]]?

  /// - Parameter entities: the numbers of the entities to show; nil for all. Relationships with others have a row and no
  ///   line.
  /// - Parameter details: what rows show instead of types and destinations, by the numbers of the entity and the property;
  ///   an empty text changes nothing.
  package init(_ model: Model, entities: Set<Int>? = nil, details: [[String]]? = nil) {
    self.model = model
    self.details = details
    self.entities = entities ?? Set(model.entities.indices)
  }

  package var content: DiagramContent { DiagramContent(model, entities: entities, details: details) }

  /// The picture as an SVG document, without scripts and without fonts of its own.
  ///
  /// - Parameters:
  ///   - theme: the colors.
  ///   - link: returns the address that the box of an entity leads to; nil for none.
  /// - Complexity: about n² in the number of relationships of a connected component with a thousand entities, which takes
  ///   a few seconds.
  package func svg(theme: DiagramTheme = .automatic, link: (Entity) -> String? = { _ in nil }) -> String {
    let content = content
    var writer = SVGWriter(content, DiagramLayout(content), title: model.name, theme)
    return writer.document { card in
      guard case .entity(let number, _) = card.kind else { return nil }
      return link(model.entities[number])
    }
  }

  /// The picture's content for Mermaid, an `erDiagram`.
  package func mermaid() -> String { MermaidText.text(model, entities: entities, details: details) }

  /// The picture's content for Graphviz.
  package func dot() -> String { DotText.text(content, title: model.name) }
}
