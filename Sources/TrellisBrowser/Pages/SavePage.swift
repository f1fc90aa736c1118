import TrellisDynamic
import TrellisModel
import TrellisRuntime
import TrellisStorage
import TrellisTimeTravel

/// One save with what it changed, and a form that takes it back.
struct SavePage {
  /// The number of objects that are shown.
  static let mostObjects = 200

  let site: Site
  let container: PersistentContainer
  let save: HistoryTransaction

  func response() throws -> HTTPResponse { HTTPResponse(try page([])) }

  /// Undoes the save.
  func undo(in context: ManagedObjectContext) throws -> HTTPResponse {
    do {
      try container.undo([save], in: context)
      try context.save()
      return HTTPResponse(goOnAt: site.address("history"))
    } catch let refusal as UndoRefusal {
      return HTTPResponse(try page(refusal.conflicts.map { "\($0)" }), .unprocessable)
    } catch let error as ValidationError {
      return HTTPResponse(try page(error.failures.map { "\($0)" }), .unprocessable)
    }
  }

  private func page(_ faults: [String]) throws -> HTML {
    let number = "\(save.token.transaction)"
    let summary = SaveSummary(save)
    let form: HTML? =
      site.isWritable && save.isComplete
      ? """
      <form method=post action="\(site.address("history", number))">\
      <div class=actions><button>Undo</button></div></form>
      <p class=pale>What the save changed becomes as before it, if nothing of it was changed since. Hooks of the program do \
      not run here.</p>
      """ : nil
    let content: HTML = """
      <p class=pale>\(summary.line): \(summary.counts)</p>
      \(faults.map { Layout.fault($0) })
      \(form)
      \(try changes())
      """
    return Layout(site).page("Save \(number)", [("History", site.address("history"))], content)
  }

  private func changes() throws -> [HTML] {
    struct Enough: Error {}
    var shown: [HTML] = []
    do {
      try container.differences(since: container.historyToken(before: save), until: save.token) { difference in
        if shown.count == Self.mostObjects { throw Enough() }
        let view = DifferenceView(difference, site, container.model)
        shown.append(
          "<h2>\(site.pastLink(difference.id)) <span class=pale>\(difference.kind.rawValue)</span></h2>\n\(view.table)")
      }
    } catch is Enough {
      shown.append("<p class=pale>and more objects</p>\n")
    } catch let error as StoreError where error.code == .historyExpired || error.code == .unsupported {
      shown.append("<p class=pale>\(error.description)</p>\n")
    }
    return shown
  }
}
