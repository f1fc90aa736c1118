import CSQLite
import Foundation
import Testing
import Trellis
import TrellisJSON
import TrellisTestSupport

/// A folder with a club in a store, for tests that damage its file.
final class ClubStore {
  enum Kind: CaseIterable { case sqlite, json }

  let kind: Kind
  private let home: TestFolder
  var folder: URL { home.url }
  var file: URL { home.file("club.store") }

  init(_ kind: Kind) throws {
    self.kind = kind
    home = try TestFolder()
  }

  func open() throws -> PersistentContainer { try Self.open(kind, at: file) }

  static func open(_ kind: Kind, at file: URL) throws -> PersistentContainer {
    let store: StoreConfiguration =
      switch kind {
      case .sqlite: .sqlite(at: file, durability: .relaxed)
      case .json: .json(at: file, durability: .relaxed)
      }
    return try PersistentContainer(model: .club, store: store, log: nil)
  }

  /// A club that is right: six people, of whom one is a captain, in two teams, with everything that they may have.
  func fill() throws {
    let container = try open()
    defer { container.close() }
    let context = container.newContext()
    let people = ["Ann", "Ben", "Cho", "Dee", "Eva"].map { Person(in: context, name: $0) }
    let captain = Captain(in: context, name: "Fay")
    for (place, person) in people.enumerated() { person.code = "code \(place)" }
    let teams = [Team(in: context), Team(in: context)]
    for person in people.prefix(3) { teams[0].members.append(person) }
    teams[1].members.append(captain)
    for person in people.prefix(2) { _ = Desk(in: context, owner: person) }
    people[0].partner = people[1]
    people[2].friends.append(people[3])
    people[4].badges.append(Badge(in: context))
    for _ in 0..<2 { people[0].songs.append(Song(in: context)) }
    people[1].mentor = captain
    try context.save()
  }

  /// What a check finds, as a code and a place each.
  func findings() throws -> [String] {
    let container = try open()
    defer { container.close() }
    return try container.check().map(Self.line).sorted()
  }

  static func line(_ finding: StoreFinding) -> String {
    ([finding.code.rawValue, finding.entity ?? "store"] + finding.properties).joined(separator: " ")
  }

  /// Runs SQL that Trellis would not run, with no foreign key or rule in its way.
  func damage(_ sql: String) throws {
    var database: OpaquePointer?
    defer { _ = trellis_sqlite3_close_v2(database) }
    try #require(trellis_sqlite3_open_v2(file.path, &database, Int32(TRELLIS_SQLITE_OPEN_READWRITE), nil) == 0)
    let handle = try #require(database)
    let code = trellis_sqlite3_exec(
      handle, "PRAGMA foreign_keys = OFF; PRAGMA writable_schema = ON; PRAGMA ignore_check_constraints = ON; \(sql)",
      nil,
      nil, nil)
    try #require(code == 0, "\(String(cString: trellis_sqlite3_errmsg(handle)))")
  }

  /// Exchanges a text in the file for another; it must be there.
  func replace(_ text: String, by other: String) throws {
    let content = try String(contentsOf: file, encoding: .utf8)
    let place = try #require(content.range(of: text))
    try content.replacingCharacters(in: place, with: other).write(to: file, atomically: false, encoding: .utf8)
  }
}
