import Foundation
import Testing
import TrellisDynamic
import TrellisJSON
import TrellisModel
import TrellisModelFile
import TrellisRuntime
import TrellisStorage
import TrellisTestSupport

@testable import TrellisBrowser

/// A store with a few objects of each kind, and its site.
final class BrowsedStore {
  enum Kind: CaseIterable {
    case sqlite, document
  }

  static let model = """
    {
      "model": "Journal",
      "history": "values",
      "enums": { "Mood": { "type": "string", "cases": ["happy", "sad", "calm"] } },
      "entities": {
        "Diary": {
          "attributes": {
            "title": { "type": "string", "minLength": 1 },
            "note": { "type": "string", "optional": true },
            "rating": { "type": "int16", "default": 5, "min": 1, "max": 10 },
            "mood": { "type": "Mood", "default": "happy" },
            "writtenAt": { "type": "date", "default": "now" },
            "words": { "type": "[string]", "default": ["a", "b"] },
            "isPinned": { "type": "bool", "default": false },
            "price": { "type": "decimal", "optional": true }
          },
          "relationships": {
            "images": { "destination": "Image", "toMany": true, "ordered": true, "inverse": "diary", "deleteRule": "cascade" },
            "tags": { "destination": "Tag", "toMany": true, "inverse": "diaries" },
            "place": { "destination": "Place", "optional": true, "inverse": "diaries" }
          }
        },
        "Image": {
          "attributes": { "path": "string", "data": { "type": "data", "optional": true } },
          "relationships": { "diary": { "destination": "Diary", "optional": true, "inverse": "images" } }
        },
        "Tag": {
          "attributes": { "name": "string" }, "unique": [["name"]],
          "relationships": { "diaries": { "destination": "Diary", "toMany": true, "inverse": "tags" } }
        },
        "Place": {
          "attributes": { "name": "string" },
          "relationships": { "diaries": { "destination": "Diary", "toMany": true, "inverse": "place", "deleteRule": "deny" } }
        }
      }
    }
    """

  static let port: UInt16 = 8_000

  let folder: TestFolder
  let url: URL
  let kind: Kind
  let site: Site
  /// A container with the right to write, as another program has it. A document has only one writer, which is not open then.
  let container: PersistentContainer

  init(isWritable: Bool, kind: Kind = .sqlite) throws {
    folder = try TestFolder()
    self.kind = kind
    url = folder.file(kind == .sqlite ? "journal.db" : "journal.json")
    let filled = try Self.open(url, kind, readOnly: false)
    try Self.fill(filled)
    if kind == .document { filled.close() }
    container = filled
    site = try Site(name: "journal", isWritable: isWritable) { [url] in
      try BrowsedStore.open(url, kind, readOnly: !isWritable)
    }
  }

  static func open(_ url: URL, _ kind: Kind, readOnly: Bool) throws -> PersistentContainer {
    let parsed = ModelFile.parse(Array(model.utf8), path: "Journal.model.json")
    let description = try #require(parsed.description, "\(parsed.rendered())")
    let store: StoreConfiguration =
      kind == .sqlite ? .sqlite(at: url, durability: .relaxed, readOnly: readOnly) : .json(at: url, readOnly: readOnly)
    return try PersistentContainer(model: ObjectModel(dynamic: description), store: store, log: nil)
  }

  func openElsewhere() throws -> PersistentContainer { try Self.open(url, kind, readOnly: false) }

  private static func fill(_ container: PersistentContainer) throws {
    let context = container.newContext()
    let diary = try context.insert(
      "Diary", ["title": .text("first <day>"), "note": .text("line 1\nline 2\r\nline 3\ttab"), "price": .text("1.50")])
    let place = try context.insert("Place", ["name": .text("바다")])
    for name in ["sea", "sun"] { try diary.add(try context.insert("Tag", ["name": .text(name)]), to: "tags") }
    try diary.set("place", place)
    let image = try context.insert("Image", ["path": .text("a.png"), "data": .blob([1, 2, 3])])
    try diary.add(image, to: "images")
    _ = try context.insert("Diary", ["title": .text("\u{1}control"), "mood": .text("sad")])
    try context.save()
    // Each entity's first object has the key 1 in the addresses of these tests.
    #expect(diary.key > 0)
  }

  var bytes: Data { get throws { try Data(contentsOf: url) } }

  /// The paths of all objects.
  var objects: [String] {
    let context = container.newContext()
    return
      (try? ["Diary", "Image", "Tag", "Place"].flatMap { name in
        try context.objects(name).map { "object/\(name)/\($0.key)" }
      }) ?? []
  }

  @discardableResult func insert(_ entity: String, _ values: [String: StoredValue]) throws -> Int64 {
    let context = container.newContext()
    let object = try context.insert(entity, values)
    try context.save()
    return object.key
  }

  func version(_ path: String) throws -> Int64 {
    let parts = path.split(separator: "/")
    let key = try #require(Int64(parts[2]))
    return try #require(try container.newContext().object(String(parts[1]), key)).rowVersion
  }

  // MARK: Requests

  /// A request to an absolute address of the site.
  func get(_ address: String) -> HTTPResponse { request("GET", address, []) }

  func text(_ path: String) -> String { String(decoding: get(site.address() + translated(path)).body, as: UTF8.self) }

  func post(_ path: String, _ fields: [String: String], headers: [String] = []) -> HTTPResponse {
    let body = fields.map { "\(FormFields.encoded($0))=\(FormFields.encoded($1))" }.joined(separator: "&")
    return request("POST", site.address() + translated(path), headers, body)
  }

  func request(_ method: String, _ address: String, _ headers: [String], _ body: String = "") -> HTTPResponse {
    var lines = ["\(method) \(address) HTTP/1.1"]
    if !headers.contains(where: { $0.lowercased().hasPrefix("host:") }) { lines.append("Host: 127.0.0.1:\(Self.port)") }
    lines += headers
    if method == "POST" { lines.append("Content-Length: \(body.utf8.count)") }
    var parser = HTTPRequestParser()
    do throws(RefusedRequest) {
      guard let request = try parser.add((lines.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8) else {
        return HTTPResponse("", .badRequest)
      }
      return site.answer(request, port: Self.port)
    } catch {
      return HTTPResponse(HTML.refusal(error.message), error.status)
    }
  }

  /// The path with the object's real key: `object/Place/1` is the first object of its entity.
  private func translated(_ path: String) -> String {
    var parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard parts.count > 2, parts[0] == "object", parts[2] == "1", let key = firstKey(of: parts[1]) else { return path }
    parts[2] = "\(key)"
    return parts.joined(separator: "/")
  }

  private func firstKey(of entity: String) -> Int64? {
    let first = try? container.newContext().objects(entity, limit: 1).first
    return first?.key
  }

  // MARK: Pages

  static func links(in page: String) -> [String] {
    page.matches(of: /(?:href|src|action)="([^"]*)"/).map { String($0.1).replacing("&amp;", with: "&") }
  }

  /// The fields that a browser would send for an unchanged form.
  func formFields(_ path: String) -> [String: String] {
    let page = text(path)
    var fields: [String: String] = [:]
    for match in page.matches(of: /<input type=(?:text|hidden)[^>]*? name="?([^" >]+)"?[^>]*? value="([^"]*)"/) {
      fields[String(match.1)] = Self.unescaped(match.2)
    }
    for match in page.matches(of: /<textarea [^>]*name="([^"]+)"[^>]*>\n([^<]*)<\/textarea>/) {
      // Browsers send line breaks as two characters.
      fields[String(match.1)] = Self.unescaped(match.2).replacing("\n", with: "\r\n")
    }
    for match in page.matches(of: /<select [^>]*name="([^"]+)">.*?<option value="([^"]*)" selected>/) {
      fields[String(match.1)] = Self.unescaped(match.2)
    }
    for match in page.matches(of: /<input type=checkbox name="([^"]+)" checked>/) { fields[String(match.1)] = "on" }
    return fields
  }

  private static func unescaped(_ text: Substring) -> String {
    var text = String(text)
    for (entity, character) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&#13;", "\r")] {
      text = text.replacing(entity, with: character)
    }
    return text.replacing("&amp;", with: "&")
  }

  /// The messages at a field of a form.
  func faults(of field: String, in page: String) -> [String] {
    let parts = page.components(separatedBy: "<div class=field>")
    guard let part = parts.first(where: { $0.hasPrefix("<label for=\"f-\(field)\"") }) else { return [] }
    return part.matches(of: /<div class=fault>([^<]*)<\/div>/).map { Self.unescaped($0.1) }
  }
}
