import TrellisDynamic
import TrellisModel
import TrellisRuntime
import TrellisStorage

/// The objects of an entity: filtered by a predicate, sorted, page by page.
struct EntityPage {
  /// The number of objects on a page.
  static let pageSize = 50
  /// The number of columns beside the key, unless the address names them.
  private static let usualColumns = 8

  let site: Site
  let context: ManagedObjectContext
  let entity: Entity

  func response(_ query: FormFields) throws -> HTTPResponse {
    let asked = Asked(query)
    do {
      return HTTPResponse(page(try list(asked), asked))
    } catch let error as PredicateFormatError {
      return HTTPResponse(page(Layout.fault(error.description), asked), .unprocessable)
    } catch let error as DynamicError {
      return HTTPResponse(page(Layout.fault(error.description), asked), .badRequest)
    } catch let error as StoreError where error.code == .limit {
      return HTTPResponse(page(Layout.fault("\(error)"), asked), .badRequest)
    }
  }

  /// What the address asks for.
  private struct Asked {
    let filter: String
    let sort: String
    let page: Int
    /// The names of the columns; empty for the usual ones.
    let columns: [String]

    init(_ query: FormFields) {
      filter = query["where"] ?? ""
      sort = query["sort"] ?? ""
      page = min(max(1, query["page"].flatMap { Int($0) } ?? 1), 1_000_000_000)
      columns = query.values(of: "column")
    }

    func query(sort: String? = nil, page: Int? = nil) -> [(String, String)] {
      ([("where", filter), ("sort", sort ?? self.sort), ("page", page.map { "\($0)" } ?? "")]
        + columns.map { ("column", $0) }).filter { !$0.1.isEmpty }
    }
  }

  private func page(_ list: HTML, _ asked: Asked) -> HTML {
    let kept = asked.query().filter { $0.0 != "where" }.map(Self.hidden)
    let new: HTML? =
      site.isWritable && !entity.isAbstract
      ? "<div class=actions><a class=button href=\"\(site.address("entity", entity.name, "new"))\">New</a></div>" : nil
    let content: HTML = """
      <form class=filter action="\(site.address("entity", entity.name))">\
      <input type=text name=where value="\(asked.filter)" placeholder="A predicate, as in \(example)" \
      aria-label="Filter" spellcheck=false>\(kept)<button>Filter</button></form>
      \(new)
      \(list)
      """
    return Layout(site).page(entity.name, [], content)
  }

  private static func hidden(_ field: (name: String, value: String)) -> HTML {
    "<input type=hidden name=\"\(field.name)\" value=\"\(field.value)\">"
  }

  private var example: String {
    guard let attribute = entity.storedAttributes.first(where: { $0.type == .string }) else { return "SELF != nil" }
    return "\(attribute.name) CONTAINS[c] \"sea\""
  }

  private func list(_ asked: Asked) throws -> HTML {
    let filter = asked.filter.isEmpty ? nil : asked.filter
    let sort = asked.sort.isEmpty ? [] : asked.sort.split(separator: ",").map(String.init)
    let count = try context.count(entity.name, where: filter)
    let objects = try context.objects(
      entity.name, where: filter, sortedBy: sort, limit: Self.pageSize, offset: (asked.page - 1) * Self.pageSize)
    guard count > 0 else {
      return "<p class=nothing>\(filter == nil ? "There are no objects." : "Nothing matches.")</p>"
    }
    let columns = self.columns(asked)
    let heads: [HTML] = columns.map { head($0, asked) }
    let rows: [HTML] = try objects.map { object in
      let cells = try columns.map { try cell($0, of: object) }
      let name: HTML = "<a href=\"\(site.address(of: object))\">\(object.description)</a>"
      return "<tr><td><div class=cell>\(name)</div></td>\(cells)</tr>\n"
    }
    return """
      <p class=pale>\(count) \(count == 1 ? "object" : "objects")\(asked.page > 1 ? ", page \(asked.page)" : "")</p>
      \(columnForm(columns, asked))
      <div class=scroll><table>
      <tr><th>Object</th>\(heads)</tr>
      \(rows)</table></div>
      \(pager(count, asked))
      """
  }

  /// The properties that a list can show: attributes, then to-ones, then to-manys by their counts.
  private var possibleColumns: [Property] {
    let relationships = entity.relationships
    return entity.storedAttributes.map(Property.attribute)
      + relationships.filter { !$0.isToMany }.map(Property.relationship)
      + relationships.filter(\.isToMany).map(Property.relationship)
  }

  private func columns(_ asked: Asked) -> [Property] {
    let possible = possibleColumns
    let chosen = possible.filter { asked.columns.contains($0.name) }
    guard chosen.isEmpty else { return chosen }
    return Array(
      possible.filter { $0.attribute?.type != .data && $0.relationship?.isToMany != true }
        .prefix(Self.usualColumns))
  }

  /// Says which columns are left out, and lets them be chosen.
  private func columnForm(_ shown: [Property], _ asked: Asked) -> HTML {
    let possible = possibleColumns
    let names = Set(shown.map(\.name))
    let left = possible.map(\.name).filter { !names.contains($0) }
    let summary: HTML = left.isEmpty ? "Columns" : "Columns; not shown: \(left.joined(separator: ", "))"
    let boxes: [HTML] = possible.map { property in
      let checked: HTML = names.contains(property.name) ? " checked" : ""
      return "<label><input type=checkbox name=column value=\"\(property.name)\"\(checked)> \(property.name)</label>\n"
    }
    let kept = asked.query(page: asked.page > 1 ? asked.page : nil).filter { $0.0 != "column" }.map(Self.hidden)
    return """
      <details><summary>\(summary)</summary>
      <form action="\(site.address("entity", entity.name))">\(kept)
      \(boxes)<button>Show</button></form></details>
      """
  }

  private func head(_ property: Property, _ asked: Asked) -> HTML {
    guard case .attribute(let attribute) = property, attribute.type.isSortable else {
      return "<th>\(property.name)</th>"
    }
    let isAscending = asked.sort == attribute.name
    let isDescending = asked.sort == "-" + attribute.name
    let address = site.address(
      "entity", entity.name, query: asked.query(sort: isAscending ? "-" + attribute.name : attribute.name))
    return "<th><a href=\"\(address)\">\(attribute.name)\(isAscending ? " ▲" : isDescending ? " ▼" : "")</a></th>"
  }

  private func cell(_ property: Property, of object: DynamicObject) throws -> HTML {
    switch property {
    case .attribute(let attribute):
      let value = object.value(of: attribute)
      if value.isNull { return "<td class=nothing>nil</td>" }
      return "<td><div class=cell>\(ValueText(attribute).shortText(value, length: 80))</div></td>"
    case .relationship(let relationship) where relationship.isToMany:
      return "<td class=number>\(try object.memberKeys(relationship.name).count)</td>"
    case .relationship(let relationship):
      guard let partner = try object.partner(relationship.name) else { return "<td class=nothing>nil</td>" }
      return "<td><div class=cell>\(site.link(to: partner))</div></td>"
    }
  }

  private func pager(_ count: Int, _ asked: Asked) -> HTML {
    let last = (count + Self.pageSize - 1) / Self.pageSize
    func link(_ page: Int, _ text: String) -> HTML? {
      guard page >= 1, page <= last, page != asked.page else { return nil }
      return
        "<a class=button href=\"\(site.address("entity", entity.name, query: asked.query(page: page)))\">\(text)</a>"
    }
    return """
      <div class=actions>\(link(1, "« First"))\(link(asked.page - 1, "‹ Previous"))\(link(asked.page + 1, "Next ›"))\
      \(link(last, "Last »"))</div>
      """
  }
}
