import TrellisDynamic
import TrellisModel
import TrellisRuntime
import TrellisStorage

/// The objects of an entity: filtered by a predicate, sorted, page by page.
struct EntityPage {
  /// The number of objects on a page.
  static let pageSize = 50
  /// The number of columns beside the key.
  private static let mostColumns = 8

  let site: Site
  let context: ManagedObjectContext
  let entity: Entity

  func response(_ query: FormFields) throws -> HTTPResponse {
    let asked = Asked(query)
    do {
      return HTTPResponse(page(try list(asked), asked))
    } catch let error as PredicateFormatError {
      return HTTPResponse(page("<p class=fault>\(error.description)</p>", asked), .unprocessable)
    }
  }

  /// What the address asks for.
  private struct Asked {
    let filter: String
    let sort: String
    let page: Int

    init(_ query: FormFields) {
      filter = query["where"] ?? ""
      sort = query["sort"] ?? ""
      page = min(max(1, query["page"].flatMap { Int($0) } ?? 1), 1_000_000_000)
    }

    func query(sort: String? = nil, page: Int? = nil) -> [(String, String)] {
      [("where", filter), ("sort", sort ?? self.sort), ("page", page.map { "\($0)" } ?? "")].filter { !$0.1.isEmpty }
    }
  }

  private func page(_ list: HTML, _ asked: Asked) -> HTML {
    let sort: HTML? = asked.sort.isEmpty ? nil : "<input type=hidden name=sort value=\"\(asked.sort)\">"
    let new: HTML? =
      site.isWritable && !entity.isAbstract
      ? "<div class=actions><a class=button href=\"\(site.address("entity", entity.name, "new"))\">New</a></div>" : nil
    let content: HTML = """
      <form class=filter action="\(site.address("entity", entity.name))">\
      <input type=text name=where value="\(asked.filter)" placeholder="A predicate, as in \(example)" \
      aria-label="Filter" spellcheck=false>\(sort)<button>Filter</button></form>
      \(new)
      \(list)
      """
    return Layout(site).page(entity.name, [], content)
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
    let columns = self.columns
    let heads: [HTML] = columns.map { head($0, asked) }
    let rows: [HTML] = try objects.map { object in
      let cells = try columns.map { try cell($0, of: object) }
      return
        "<tr><td><a href=\"\(site.address(of: object))\">\(object.description)</a></td>\(cells)</tr>\n"
    }
    return """
      <p class=pale>\(count) \(count == 1 ? "object" : "objects")\(asked.page > 1 ? ", page \(asked.page)" : "")</p>
      <div class=scroll><table>
      <tr><th>Object</th>\(heads)</tr>
      \(rows)</table></div>
      \(pager(count, asked))
      """
  }

  /// The properties that the list shows: attributes, then to-ones.
  private var columns: [Property] {
    let attributes = entity.storedAttributes.filter { $0.type != .data }.map(Property.attribute)
    let partners = entity.relationships.filter { !$0.isToMany }.map(Property.relationship)
    return Array((attributes + partners).prefix(Self.mostColumns))
  }

  private func head(_ property: Property, _ asked: Asked) -> HTML {
    guard case .attribute(let attribute) = property, attribute.canBeSorted else { return "<th>\(property.name)</th>" }
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
      return "<td>\(ValueText(attribute).shortText(value, length: 80))</td>"
    case .relationship(let relationship):
      guard let partner = try object.partner(relationship.name) else { return "<td class=nothing>nil</td>" }
      return "<td>\(site.link(to: partner))</td>"
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

extension Attribute {
  /// Whether a list can be sorted by the attribute.
  fileprivate var canBeSorted: Bool {
    switch type {
    case .data, .array, .codable: false
    default: true
    }
  }
}
