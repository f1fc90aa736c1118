import CSQLite
import Foundation
import Testing
import Trellis
import TrellisJSON
import TrellisStorage
import TrellisTestSupport

@testable import TrellisSaveLoop

/// A file of the save loop, of one kind of store or the other.
struct LoopFile {
  enum Kind: String, CaseIterable { case sqlite, json }

  let kind: Kind
  let url: URL

  /// What belongs to the store when nobody has it open.
  private var lasting: [String] { kind == .sqlite ? ["", "-wal", "-journal"] : [""] }

  /// Problems in properties come up again in the saves that follow, so they are not told here.
  func open(
    _ durability: Durability = .durable, busyTimeout: TimeInterval = 5, readOnly: Bool = false
  ) throws -> PersistentContainer {
    let store: StoreConfiguration =
      switch kind {
      case .json: .json(at: url, durability: durability, readOnly: readOnly)
      case .sqlite: .sqlite(at: url, durability: durability, busyTimeout: busyTimeout, readOnly: readOnly)
      }
    return try PersistentContainer(model: .loop, store: store, log: nil) { _ in }
  }

  /// Makes the store, and saves to it.
  func fill(saves: Int) throws {
    let container = try open(.relaxed)
    defer { container.close() }
    let loop = SaveLoop(writer: "a", context: container.newContext())
    for _ in 0..<saves { _ = try loop.save() }
  }

  /// A copy of what is on the disk, to be looked at without any traces in the file itself.
  func copy(to folder: URL) throws -> LoopFile {
    let files = FileManager.default
    let copy = folder.appending(path: "copy")
    for end in ["", "-wal", "-shm", "-journal"] { try? files.removeItem(atPath: copy.path + end) }
    for end in lasting where files.fileExists(atPath: url.path + end) {
      try files.copyItem(atPath: url.path + end, toPath: copy.path + end)
    }
    return LoopFile(kind: kind, url: copy)
  }

  /// What the file holds, read without Trellis. A file without a store in it holds nothing.
  func picture() throws -> LoopPicture {
    switch kind {
    case .sqlite: try PlainSQLite(url).loopPicture()
    case .json: try loopPictureOfDocument()
    }
  }

  /// What Trellis itself finds wrong. The file is somebody's copy, so nothing is brought to the disk for it.
  func findings() throws -> [String] {
    let container = try open(.relaxed)
    defer { container.close() }
    return try container.check().map { "\($0)" }
  }

  /// What is wrong with the history of a SQLite file: each save is a transaction, in the order of the commits, and the
  /// store as of each of them is as it was.
  func historyFaults(_ picture: LoopPicture) throws -> [String] {
    guard kind == .sqlite else { return [] }
    let container = try open(.relaxed)
    defer { container.close() }
    let transactions = try container.history()
    var faults: [String] = []
    let count = picture.saves(of: SaveLoop.shared)
    if transactions.map(\.token.transaction) != Array(1...max(1, count)).filter({ $0 <= count }) {
      faults.append("\(transactions.count) transactions for \(count) saves")
    }
    for (writer, saves) in picture.counters where writer != SaveLoop.shared {
      let told = transactions.count { $0.author == writer }
      if told != saves { faults.append("\(told) transactions for \(saves) saves of \(writer)") }
    }
    for transaction in transactions where !transaction.isComplete || transaction.changes(of: Child.self).count < 2 {
      faults.append("transaction \(transaction.token.transaction) does not tell all")
    }
    for transaction in transactions.shuffled().prefix(5) {
      let past = try container.newContext(asOf: transaction.token)
      let shared = try past.first(Counter.where { $0.name == SaveLoop.shared })?.value ?? 0
      let children = try past.count(Child.all)
      let parents = try past.count(Parent.all)
      if shared != transaction.token.transaction || children != 2 * parents {
        faults.append("as of \(transaction.token.transaction): \(shared) saves, \(children) children of \(parents)")
      }
    }
    return faults
  }

  private func loopPictureOfDocument() throws -> LoopPicture {
    let document = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: url)) as? [String: Any])
    let objects = document["entities"] as? [String: [[String: Any]]] ?? [:]
    var picture = LoopPicture()
    for row in objects["Counter"] ?? [] {
      picture.counters[try #require(row["name"] as? String)] = try #require(row["value"] as? NSNumber).int64Value
    }
    let owners = (objects["Child"] ?? []).map { ($0["parent"] as? NSNumber)?.int64Value }
    picture.children = Int64(owners.count)
    let counts = Dictionary(owners.map { ($0, Int64(1)) }, uniquingKeysWith: +)
    for row in objects["Parent"] ?? [] {
      let key = try #require(row["_key"] as? NSNumber).int64Value
      picture.parents.append(
        LoopPicture.Parent(
          writer: try #require(row["writer"] as? String), number: try #require(row["number"] as? NSNumber).int64Value,
          children: counts[key] ?? 0))
    }
    picture.parents.sort { ($0.writer, $0.number) < ($1.writer, $1.number) }
    return picture
  }
}

extension PlainSQLite {
  fileprivate func loopPicture() throws -> LoopPicture {
    var picture = LoopPicture()
    guard try !rows("SELECT 1 FROM sqlite_schema").isEmpty else { return picture }
    try #require(try rows("PRAGMA integrity_check") == [["ok"]])
    try #require(try rows("PRAGMA foreign_key_check").isEmpty)
    for row in try rows("SELECT name, value FROM Counter", columns: 2) { picture.counters[row[0]] = Int64(row[1]) }
    picture.parents = try rows(
      "SELECT writer, number, (SELECT count(*) FROM Child WHERE parent = Parent._id) FROM Parent ORDER BY writer, number",
      columns: 3
    ).map { LoopPicture.Parent(writer: $0[0], number: Int64($0[1]) ?? -1, children: Int64($0[2]) ?? -1) }
    picture.children = try rows("SELECT count(*) FROM Child").first.flatMap { Int64($0[0]) } ?? -1
    return picture
  }
}
