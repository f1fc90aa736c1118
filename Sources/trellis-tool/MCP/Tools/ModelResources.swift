import TrellisModel

/// The model of a store as resources of the protocol: `trellis://model`, and one for each entity below it.
struct ModelResources {
  private let model: Model

  init(_ model: Model) { self.model = model }

  private static let root = "trellis://model"

  /// The resources as a list.
  var list: String {
    let whole = Self.resource(Self.root, model.name, model.description.doc ?? "The model of the store.")
    let entities = zip(model.entities, model.description.entities).map { entity, description in
      Self.resource("\(Self.root)/\(entity.name)", entity.name, description.doc ?? "The entity \(entity.name).")
    }
    return JSONText.list([whole] + entities)
  }

  static let templates = JSONText.list([
    JSONText.object([
      ("uriTemplate", JSONText.quoted(root + "/{entity}")), ("name", JSONText.quoted("entity")),
      ("description", JSONText.quoted("What the model declares for an entity.")),
      ("mimeType", JSONText.quoted("application/json")),
    ])
  ])

  /// The contents of a resource as a list; nil if there is none with the address.
  func content(of address: String) -> String? {
    let described = DescribedModel(model)
    let text: String
    if address == Self.root {
      text = described.json()
    } else {
      guard address.hasPrefix(Self.root + "/"),
        let entity = model.entity(named: String(address.dropFirst(Self.root.count + 1)))
      else { return nil }
      text = described.json(of: entity)
    }
    return JSONText.list([
      JSONText.object([
        ("uri", JSONText.quoted(address)), ("mimeType", JSONText.quoted("application/json")),
        ("text", JSONText.quoted(text)),
      ])
    ])
  }

  private static func resource(_ address: String, _ name: String, _ description: String) -> String {
    JSONText.object([
      ("uri", JSONText.quoted(address)), ("name", JSONText.quoted(name)),
      ("description", JSONText.quoted(description)), ("mimeType", JSONText.quoted("application/json")),
    ])
  }
}
