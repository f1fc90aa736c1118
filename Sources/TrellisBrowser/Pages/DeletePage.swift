import TrellisDynamic
import TrellisRuntime
import TrellisStorage

/// Asks before an object is deleted, and says what prevents it.
struct DeletePage {
  let site: Site
  let context: ManagedObjectContext
  let object: DynamicObject

  func response() throws -> HTTPResponse {
    do {
      try context.validateForDelete(object)
      return HTTPResponse(try page([], hasForm: true))
    } catch let error as ValidationError {
      return HTTPResponse(try page(error.failures, hasForm: false))
    }
  }

  func delete(_ form: FormFields) throws -> HTTPResponse {
    guard form["version"] == "\(object.rowVersion)" else {
      throw PageFault(.conflict, "The object was changed meanwhile. Look at it again before you delete it.")
    }
    let entity = object.entityName
    do {
      try context.delete(object)
      try context.save()
      return HTTPResponse(goOnAt: site.address("entity", entity))
    } catch let error as ValidationError {
      return HTTPResponse(try page(error.failures, hasForm: false), .unprocessable)
    }
  }

  private func page(_ failures: [ValidationFailure], hasForm: Bool) throws -> HTML {
    let entity = try object.ownEntity()
    let address = site.address("object", object.entityName, "\(object.key)", "delete")
    let faults: [HTML] = failures.map { failure in
      let blockers: [HTML] = failure.blockers.map { blocker in
        " <a href=\"\(site.address("object", blocker.entity, "\(blocker.key)"))\">\(blocker.description)</a>"
      }
      let more = failure.blockerCount - failure.blockers.count
      return
        "<p class=fault>\(failure.property) \(failure.message)\(blockers)\(more > 0 ? " and \(more) more" : "")</p>\n"
    }
    let form: HTML? =
      hasForm
      ? """
      <p>The delete rules of the model apply to its partners.</p>
      \(Layout(site).hookNote(entity, in: context.model))\
      <form method=post action="\(address)"><input type=hidden name=version value="\(object.rowVersion)">\
      <button>Delete</button></form>
      """ : nil
    let trail = [
      (object.entityName, site.address("entity", object.entityName)), (object.title, site.address(of: object)),
    ]
    return Layout(site).page("Delete", trail, "<p>\(object.title)</p>\n\(faults)\(form)")
  }
}
