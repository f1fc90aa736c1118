import Foundation
import TrellisModel
import TrellisRuntime
import TrellisTimeTravel

/// The saves of a store, the newest first.
struct HistoryPage {
  /// The number of saves on a page.
  static let mostSaves = 50

  let site: Site
  let container: PersistentContainer

  func response(_ query: FormFields) throws -> HTTPResponse {
    let end = query["before"].flatMap { Int64($0) } ?? .max
    var saves: [HistoryTransaction] = []
    try container.forEachTransaction(since: nil, until: nil) { save in
      guard save.token.transaction < end else { return }
      saves.append(save)
      if saves.count > 20 * Self.mostSaves { saves.removeFirst(saves.count - Self.mostSaves - 1) }
    }
    let shown = saves.suffix(Self.mostSaves).reversed()
    let rows = shown.map { save -> HTML in
      let text = SaveSummary(save)
      return """
        <tr><td class=number><a href="\(site.address("history", "\(save.token.transaction)"))">\(save.token.transaction)</a></td>\
        <td>\(text.date)</td><td>\(save.author ?? "")</td><td>\(text.counts)</td></tr>

        """
    }
    let older: HTML? =
      saves.count > Self.mostSaves
      ? shown.last.map { last in
        let address = site.address("history", query: [("before", "\(last.token.transaction)")])
        return "<div class=actions><a class=button href=\"\(address)\">Older ›</a></div>"
      } : nil
    let table: HTML = """
      <div class=scroll><table>
      <tr><th class=number>Save</th><th>Date</th><th>Author</th><th>Objects</th></tr>
      \(rows)</table></div>
      \(older)
      """
    return HTTPResponse(Layout(site).page("History", [], shown.isEmpty ? "<p class=nothing>no saves</p>" : table))
  }
}

/// A save in words.
struct SaveSummary {
  private let save: HistoryTransaction

  init(_ save: HistoryTransaction) { self.save = save }

  /// The date without a part of a second.
  var date: String { DateText.text(Int64(save.date.timeIntervalSince1970.rounded(.down)) * 1_000_000) }

  /// What was done to how many objects.
  var counts: String {
    var counts = [0, 0, 0]
    for change in save.changes {
      switch change {
      case .inserted: counts[0] += 1
      case .updated: counts[1] += 1
      case .deleted: counts[2] += 1
      }
    }
    let parts = zip(counts, ["inserted", "updated", "deleted"]).filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    return (parts + (save.isComplete ? [] : ["others, which are not listed"])).joined(separator: ", ")
  }

  var line: String { ([date] + (save.author.map { ["by \($0)"] } ?? [])).joined(separator: " ") }
}
