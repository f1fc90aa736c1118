import Foundation
import TrellisDynamic
import TrellisModel
import TrellisRuntime
import TrellisStorage

/// One object: its values, with pictures shown, and links to its partners.
struct ObjectPage {
  /// The number of members on a page.
  static let mostMembers = 50

  let site: Site
  let object: DynamicObject
  /// Whether the store records what saves change.
  let hasHistory: Bool

  func response(_ query: FormFields) throws -> HTTPResponse {
    let entity = try object.ownEntity()
    let values = try entity.storedAttributes.map { attribute -> HTML in
      "<tr><td class=name>\(attribute.name)</td><td class=value>\(try value(of: attribute))</td></tr>\n"
    }
    let partners = try entity.relationships.filter { !$0.isToMany }.map { relationship -> HTML in
      let partner = try object.partner(relationship.name)
      let shown: HTML = partner.map(site.link) ?? "<span class=nothing>nil</span>"
      return "<tr><td class=name>\(relationship.name)</td><td class=value>\(shown)</td></tr>\n"
    }
    let members = try entity.relationships.filter(\.isToMany).map { try self.members(of: $0, query) }
    let content: HTML = """
      <p class=pale>Version \(object.rowVersion)</p>
      \(actions)
      <table class=object>
      \(values)\(partners)</table>
      \(members)
      """
    let trail = [(entity.name, site.address("entity", entity.name))]
    return HTTPResponse(Layout(site).page(object.title, trail, content))
  }

  private var actions: HTML? {
    let path = [object.entityName, "\(object.key)"]
    let changes: HTML? =
      site.isWritable
      ? """
      <a class=button href="\(site.address("object", path[0], path[1], "edit"))">Edit</a>\
      <a class=button href="\(site.address("object", path[0], path[1], "delete"))">Delete</a>
      """ : nil
    let history: HTML? =
      hasHistory ? "<a class=button href=\"\(site.address("past", path[0], path[1]))\">History</a>" : nil
    return !site.isWritable && !hasHistory ? nil : "<div class=actions>\(changes)\(history)</div>"
  }

  private func value(of attribute: Attribute) throws -> HTML {
    let value = object.value(of: attribute)
    if value.isNull { return "<span class=nothing>nil</span>" }
    if attribute.type == .data { return data(attribute, value) }
    let text = try ValueText(attribute).text(value)
    switch attribute.type {
    case .array, .codable: return "<pre>\(Self.indented(text))</pre>"
    case .string where text.contains("\n") || text.utf8.count > 200: return "<pre>\(text)</pre>"
    case .url where text.hasPrefix("https://") || text.hasPrefix("http://"):
      return "<a href=\"\(text)\" rel=\"noreferrer noopener\" target=_blank>\(text)</a>"
    default: return "\(text)"
    }
  }

  private func data(_ attribute: Attribute, _ value: StoredValue) -> HTML {
    let address = site.address("object", object.entityName, "\(object.key)", "data", attribute.name)
    let size = ValueText(attribute).shortText(value, length: 100)
    let kind = DataResponse.pictureType(DataResponse.start(of: value))
    let picture: HTML? = kind.map { _ in "<img class=data src=\"\(address)\" alt=\"\(attribute.name)\">" }
    return "\(picture)<a href=\"\(address)\">\(size)</a>"
  }

  private static func indented(_ json: String) -> String {
    let options: JSONSerialization.WritingOptions = [.prettyPrinted, .fragmentsAllowed, .withoutEscapingSlashes]
    guard let value = try? JSONSerialization.jsonObject(with: Data(json.utf8), options: .fragmentsAllowed),
      let data = try? JSONSerialization.data(withJSONObject: value, options: options)
    else { return json }
    return String(decoding: data, as: UTF8.self)
  }

  private func members(of relationship: Relationship, _ query: FormFields) throws -> HTML {
    let keys = try object.memberKeys(relationship.name)
    let field = "\(relationship.name)-page"
    let page = min(
      max(1, query[field].flatMap { Int($0) } ?? 1), max(1, (keys.count + Self.mostMembers - 1) / Self.mostMembers))
    let shown = Array(keys.dropFirst((page - 1) * Self.mostMembers).prefix(Self.mostMembers))
    guard let context = object.managedObjectContext else { return "" }
    let found = try context.objects(shown, entity: relationship.destination)
    let links = shown.compactMap { found[$0] as? DynamicObject }.map { member -> HTML in
      "<li>\(site.link(to: member)) <span class=pale>\(member.description)</span></li>\n"
    }
    func link(_ number: Int, _ text: String) -> HTML? {
      guard number >= 1, (number - 1) * Self.mostMembers < keys.count else { return nil }
      let address = site.address(
        "object", object.entityName, "\(object.key)", query: [(field, "\(number)")])
      return "<a class=button href=\"\(address)\">\(text)</a>"
    }
    let pager: HTML? =
      keys.count > Self.mostMembers
      ? "<div class=actions>\(link(page - 1, "‹ Previous"))\(link(page + 1, "Next ›"))</div>" : nil
    let list: HTML =
      keys.isEmpty
      ? "<p class=nothing>none</p>"
      : relationship.isOrdered
        ? "<ol start=\((page - 1) * Self.mostMembers + 1)>\n\(links)</ol>" : "<ul>\n\(links)</ul>"
    return """
      <h2>\(relationship.name) <span class=pale>\(keys.count)</span></h2>
      \(list)\(pager)
      """
  }
}

/// The bytes of one attribute of an object.
struct DataResponse {
  let object: DynamicObject

  func response(_ name: String) throws -> HTTPResponse {
    guard let attribute = try object.ownEntity().property(named: name)?.attribute, attribute.type == .data else {
      throw PageFault.nothing
    }
    let bytes: [UInt8]
    switch object.value(of: attribute) {
    case .blob(let data): bytes = data
    case .file(let file): bytes = [UInt8](try ExternalData(file).load())
    default: throw PageFault(.notFound, "The attribute is nil.")
    }
    if let type = Self.pictureType(bytes.prefix(16)) { return HTTPResponse(data: bytes, type) }
    var response = HTTPResponse(data: bytes, "application/octet-stream")
    let name = name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") } ? name : "data"
    response.fileName = "\(String(object.entityName.unicodeScalars.filter(\.isASCII)))-\(object.key)-\(name)"
    return response
  }

  /// The first bytes of data.
  static func start(of value: StoredValue) -> ArraySlice<UInt8> {
    switch value {
    case .blob(let bytes): bytes.prefix(16)
    case .file(let file): ((try? ExternalData(file).start(16)) ?? [])[...]
    default: []
    }
  }

  /// The type of a picture by its first bytes. Nil for everything else, which is never shown: it could have scripts.
  static func pictureType(_ start: ArraySlice<UInt8>) -> String? {
    func begins(_ bytes: [UInt8], at offset: Int = 0) -> Bool { start.dropFirst(offset).starts(with: bytes) }
    if begins([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return "image/png" }
    if begins([0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
    if begins(Array("GIF8".utf8)) { return "image/gif" }
    if begins(Array("RIFF".utf8)) && begins(Array("WEBP".utf8), at: 8) { return "image/webp" }
    if begins(Array("ftypavif".utf8), at: 4) { return "image/avif" }
    if begins(Array("ftypheic".utf8), at: 4) { return "image/heic" }
    if begins(Array("BM".utf8)) && start.count > 13 { return "image/bmp" }
    return nil
  }
}
