import TrellisDynamic
import TrellisModel
import TrellisRuntime
import TrellisStorage
import TrellisTimeTravel

/// What saves did to one object, which may be deleted, with forms that make it as it was.
struct PastPage {
  /// The number of saves that are shown.
  static let mostSaves = 50

  let site: Site
  let container: PersistentContainer
  let context: ManagedObjectContext
  let entity: Entity
  let key: Int64

  private var name: String { "\(entity.name)#\(key)" }

  func response() throws -> HTTPResponse { HTTPResponse(try page([], [])) }

  /// Restores the object as of a save.
  func restore(_ form: FormFields) throws -> HTTPResponse {
    guard let number = form["save"].flatMap({ Int64($0) }), let save = try container.transaction(number) else {
      throw PageFault(.badRequest, "The form names no save.")
    }
    do {
      let restoration = try container.restore(
        AnyObjectID(key, entity: entity.index, in: context), asOf: save.token, in: context,
        withParts: form["parts"] != nil)
      try context.save()
      if restoration.losses.isEmpty { return HTTPResponse(goOnAt: site.address("object", entity.name, "\(key)")) }
      return HTTPResponse(try page([], restoration.losses.map { "\($0)" }))
    } catch let error as RestoreError {
      return HTTPResponse(try page(["\(error)"], []), .unprocessable)
    } catch let error as ValidationError {
      return HTTPResponse(try page(error.failures.map { "\($0)" }, []), .unprocessable)
    }
  }

  private func page(_ faults: [String], _ losses: [String]) throws -> HTML {
    let present = try context.object(entity.name, key)
    let saves = try saves()
    let link: HTML? = present.map { "<p>\(site.link(to: $0)) is there at present.</p>\n" }
    let lost: HTML? =
      losses.isEmpty ? nil : "<p>The object is restored, but for this:</p>\n\(losses.map { Layout.fault($0) })"
    let note: HTML? = site.isWritable ? Layout(site).hookNote(entity, in: container.model) : nil
    let content: HTML = """
      \(faults.map { Layout.fault($0) })\(lost)\(link)\(note)
      \(saves.isEmpty ? "<p class=nothing>No save that the history has changed this object.</p>" : nil)
      \(try saves.map(section))
      """
    let trail = [(entity.name, site.address("entity", entity.name))]
    return Layout(site).page("History of \(name)", trail, content)
  }

  /// The last saves that changed the object, the newest first.
  private func saves() throws -> [HistoryTransaction] {
    var saves: [HistoryTransaction] = []
    try container.forEachTransaction(since: nil, until: nil) { save in
      let isShown = save.changes.contains {
        $0.id.key == key && container.model.entity(named: $0.id.entity)?.root == entity.root
      }
      if isShown { saves.append(save) }
    }
    return saves.suffix(Self.mostSaves).reversed()
  }

  private func section(_ save: HistoryTransaction) throws -> HTML {
    let number = "\(save.token.transaction)"
    let address = site.address("history", number)
    let summary = SaveSummary(save).line
    guard let difference = try difference(by: save) else {
      return """
        <h2><a href="\(address)">Save \(number)</a> <span class=pale>\(summary)</span></h2>
        <p class=nothing>The values of that time are not kept.</p>

        """
    }
    return """
      <h2><a href="\(address)">Save \(number)</a> <span class=pale>\(summary): \(difference.kind.rawValue)</span></h2>
      \(DifferenceView(difference, site, container.model).table)\(form(difference, number))
      """
  }

  private func form(_ difference: ObjectDifference, _ number: String) -> HTML? {
    guard site.isWritable, difference.kind != .deleted else { return nil }
    return """
      <form method=post action="\(site.address("past", entity.name, "\(key)"))">\
      <input type=hidden name=save value="\(number)">\
      <div class=actions><button>Restore as of save \(number)</button>\
      <label><input type=checkbox name=parts checked> with deleted parts</label></div></form>

      """
  }

  /// Nil if the values of that time are not kept.
  private func difference(by save: HistoryTransaction) throws -> ObjectDifference? {
    do {
      return try container.difference(of: key, entity, since: container.historyToken(before: save), until: save.token)
    } catch let error as StoreError where error.code == .historyExpired || error.code == .unsupported {
      return nil
    }
  }
}
