import TrellisModel
import TrellisRuntime
import TrellisStorage

/// The entities with the numbers of their objects, and the picture of the model.
struct StartPage {
  let site: Site
  let context: ManagedObjectContext
  let hasPicture: Bool
  /// Whether the store records what saves change.
  let hasHistory: Bool

  func response() throws -> HTTPResponse {
    let model = context.model
    let rows = try model.entities.map { entity -> HTML in
      let request = StoreRequest(entity: entity.index, includesSubentities: true)
      let count = try context.count(of: request)
      let parent: HTML? = entity.parent.map { " <span class=pale>is a \(model.entities[$0].name)</span>" }
      let name: HTML = entity.isAbstract ? "<i>\(entity.name)</i>" : "\(entity.name)"
      return """
        <tr><td><a href="\(site.address("entity", entity.name))">\(name)</a>\(parent)</td>\
        <td class=number>\(count)</td><td class=pale>\(model.description.entities[entity.index].doc ?? "")</td></tr>

        """
    }
    let picture: HTML? =
      hasPicture
      ? """
      <h2>Model</h2>
      <p><a href="\(site.address("diagram.svg"))">Open the picture</a></p>
      <a href="\(site.address("diagram.svg"))"><img class=diagram src="\(site.address("diagram.svg"))" \
      alt="The entities of the model and their relationships"></a>
      """ : nil
    let history: HTML? =
      hasHistory ? "<p><a href=\"\(site.address("history"))\">History of the saves</a></p>\n" : nil
    let content: HTML = """
      <p class=pale>\(model.description.doc ?? "")</p>
      <table>
      <tr><th>Entity</th><th class=number>Objects</th><th></th></tr>
      \(rows)</table>
      \(history)\(picture)
      """
    return HTTPResponse(Layout(site).page(model.name, [], content))
  }
}
