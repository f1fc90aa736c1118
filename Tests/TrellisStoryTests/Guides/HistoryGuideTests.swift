import Foundation
import Testing
import Trellis
import TrellisTestSupport
import TrellisTimeTravel

@Suite("The guide to histories") final class HistoryGuideTests: GuideRun {
  @Test("the samples print what the guide says")
  func samples() throws {
    let folder = try TestFolder()
    let containers = try ["memos", "phone", "desktop"].map {
      try PersistentContainer(model: .memos, store: .sqlite(at: folder.file("\($0).db")))
    }
    let (memos, phone, desktop) = (containers[0], containers[1], containers[2])

    let start = try memos.historyToken()
    let context = memos.newContext()
    context.author = "editor"
    let memo = Memo(in: context, title: "Tea")
    try context.save()
    memo.title = "Green tea"
    memo.text = "3 minutes"
    try context.save()
    for transaction in try memos.history(since: start) {
      print(transaction.author ?? "-", transaction.changes)
    }

    let saved = try memos.historyToken().description
    try context.delete(memo)
    try context.save()
    guard let seen = HistoryToken(saved) else { throw CocoaError(.fileReadCorruptFile) }
    for change in try memos.history(since: seen).flatMap({ $0.changes(of: Memo.self) }) {
      if case .deleted(_, let tombstone) = change {
        print(
          "deleted:", tombstone.value(of: "id", as: UUID.self) != nil,
          tombstone.value(of: "title", as: String.self) ?? "not kept")
      }
    }

    var phoneSeen = try phone.historyToken(), desktopSeen = try desktop.historyToken()
    let phoneContext = phone.newContext()
    let onPhone = Memo(in: phoneContext, title: "Tea")
    try phoneContext.save()

    func exchange() throws {
      let next = try Exchange(source: phone, target: desktop).run(since: phoneSeen, targetSeen: desktopSeen)
      desktopSeen = try Exchange(source: desktop, target: phone, winner: .target).run(
        since: desktopSeen, targetSeen: phoneSeen)
      phoneSeen = next
    }

    try exchange()
    let desktopContext = desktop.newContext()
    let onDesktop = try desktopContext.fetch(Memo.all)[0]
    onDesktop.text = "3 minutes"
    onDesktop.title = "Black tea"
    try desktopContext.save()
    onPhone.title = "Green tea"
    try phoneContext.save()
    try exchange()
    for store in [phone, desktop] {
      print(try store.newContext().fetch(Memo.all).map { "\($0.title), \($0.text)" })
    }
    print("left to tell:", try phone.history(since: phoneSeen).filter { $0.author != Exchange.author }.count)

    let journal = phone.newContext()
    let memo2 = Memo(in: journal, title: "Draft")
    journal.author = "ada"
    try journal.save()
    let then = try phone.historyToken()
    memo2.title = "Final"
    journal.author = "eve"
    try journal.save()
    try journal.delete(memo2)
    try journal.save()

    let past = try phone.newContext(asOf: then)
    print(try past.fetch(Memo.all.sorted { $0.title }).map(\.title))
    for version in try phone.history(of: memo2.objectID) {
      print(version.author ?? "-", version.values?.title ?? "deleted")
    }

    let editor = phone.newContext()
    let memo3 = Memo(in: editor, title: "Coffee")
    try editor.save()
    let good = try phone.historyToken()
    editor.author = "robot"
    memo3.title = "Caffè"
    try editor.save()
    memo3.text = "1 minute"
    try editor.save()

    let saves = try phone.history(since: good).filter { $0.author == "robot" }
    try phone.undo(saves, in: editor)
    try editor.save()
    print(memo3.title, memo3.text.isEmpty)

    memo3.title = "Espresso"
    do {
      try phone.undo(phone.history(since: good).suffix(1), in: editor)
    } catch let refusal as UndoRefusal {
      print(refusal.conflicts.map { "\($0.property ?? "") \($0.reason.rawValue)" })
    }

    try editor.delete(memo3)
    try editor.save()
    let restoration = try phone.restore(memo3.objectID, asOf: good, in: editor)
    try editor.save()
    let restored = try editor.object(with: memo3.objectID)
    print(restoration.losses, restored?.title ?? "-")

    restored?.title = "Espresso"
    try editor.save()
    try phone.differences(since: good) { difference in
      for property in difference.properties {
        let (former, latter) = (property.former?.value(as: String.self), property.latter?.value(as: String.self))
        print(difference.kind, property.name, former ?? "nil", "→", latter ?? "nil")
      }
    }

    let count = try phone.deleteHistory(before: phoneSeen)
    #expect(count > 0)

    try expectPrinted(as: "History")
  }

  /// What one side does with the memo that both have.
  enum Deed: CaseIterable, Sendable {
    case nothing, title, text, both, delete, editAndDelete

    func carryOut(_ memo: Memo, _ side: String, in context: ManagedObjectContext) throws {
      if [.title, .both, .editAndDelete].contains(self) { memo.title = "title of \(side)" }
      if self == .both { try context.save() }
      if [.text, .both].contains(self) { memo.text = "text of \(side)" }
      try context.save()
      if [.delete, .editAndDelete].contains(self) { try context.delete(memo) }
      try context.save()
    }
  }

  @Test(
    "two stores are equal after an exchange, and no edit is lost to a delete", arguments: Deed.allCases, Deed.allCases)
  func exchange(onPhone: Deed, onDesktop: Deed) throws {
    let folder = try TestFolder()
    let stores = try ["phone", "desktop"].map {
      try PersistentContainer(model: .memos, store: .sqlite(at: folder.file("\($0).db")))
    }
    let contexts = stores.map { $0.newContext() }
    var seen = try stores.map { try $0.historyToken() }
    func exchange() throws {
      let next = try Exchange(source: stores[0], target: stores[1]).run(since: seen[0], targetSeen: seen[1])
      seen[1] = try Exchange(source: stores[1], target: stores[0], winner: .target).run(
        since: seen[1], targetSeen: seen[0])
      seen[0] = next
    }
    func memos(_ side: Int) throws -> [Memo.Snapshot] {
      try contexts[side].fetch(Memo.all.sorted { $0.title }).map(\.snapshot)
    }
    let memo = Memo(in: contexts[0], title: "Tea")
    memo.text = "3 minutes"
    try contexts[0].save()
    try exchange()
    #expect(try memos(0) == memos(1) && memos(0).count == 1)
    try onPhone.carryOut(memo, "phone", in: contexts[0])
    try onDesktop.carryOut(#require(try contexts[1].first(Memo.all)), "desktop", in: contexts[1])
    try exchange()
    let texts = try memos(0).map { [$0.title, $0.text] }
    #expect(try texts == memos(1).map { [$0.title, $0.text] })
    let edits: [Deed] = [.title, .text, .both]
    let isKept = edits.contains(onPhone) || edits.contains(onDesktop) || (onPhone, onDesktop) == (.nothing, .nothing)
    #expect(texts.count == (isKept ? 1 : 0))
    if let (title, text) = texts.first.map({ ($0[0], $0[1]) }) {
      #expect([.title, .both].contains(onPhone) == (title == "title of phone"))
      #expect([.text, .both].contains(onPhone) == (text == "text of phone"))
      if onDesktop == .text && onPhone != .text && onPhone != .both { #expect(text == "text of desktop") }
      #expect(!text.isEmpty)
    }
    try exchange()
    #expect(try memos(0).map { [$0.title, $0.text] } == texts && memos(1).map { [$0.title, $0.text] } == texts)
  }

  @Test("each sample stands in this test")
  func compiled() throws {
    #expect(try GuideText("History.md").samples(missingFrom: #filePath) == [])
  }
}

/// Brings changes of one store into another.
struct Exchange {
  enum Winner { case source, target }

  /// The author of what an exchange saves.
  static let author = "exchange"

  let source: PersistentContainer
  let target: PersistentContainer
  /// The store that keeps its value if both have changed the same property.
  var winner = Winner.source

  /// - Returns: the moment up to which the target knows the changes of the source.
  func run(since seen: HistoryToken, targetSeen: HistoryToken) throws -> HistoryToken {
    let own = try ownChanges(since: targetSeen)
    let (here, there) = (source.newContext(), target.newContext())
    there.author = Self.author
    var last = seen
    for transaction in try source.history(since: seen) {
      last = transaction.token
      // What came from the target does not go back.
      if transaction.author == Self.author { continue }
      for change in transaction.changes(of: Memo.self) {
        switch change {
        case .inserted(let id):
          // An object that was deleted later is gone by now, and its delete comes later.
          if let memo = try here.object(with: id) { try copy(memo, Self.properties, to: there, own) }
        case .updated(let id, let properties):
          if let memo = try here.object(with: id) { try copy(memo, properties, to: there, own) }
        case .deleted(_, let tombstone):
          // What the target has changed meanwhile stays, and returns to the source.
          guard let id = tombstone.value(of: "id", as: UUID.self), own[id] == nil else { continue }
          if let memo = try there.first(Memo.where { $0.id == id }) { try there.delete(memo) }
        }
      }
    }
    // Others may save to the target meanwhile. What is changed here wins, the rest is merged.
    try there.save(mergePolicy: .objectTrump)
    return last
  }

  private static let properties = ["title", "text"]

  private func copy(
    _ memo: Memo, _ properties: [String], to there: ManagedObjectContext, _ own: [UUID: Set<String>]
  ) throws {
    let id = memo.id
    let known = try there.first(Memo.where { $0.id == id })
    let copy = known ?? Memo(in: there, id: id, title: memo.title)
    let kept = winner == .target ? own[id] ?? [] : []
    // An object that the target has deleted is made anew as a whole.
    for property in known == nil ? Self.properties : properties where !kept.contains(property) {
      switch property {
      case "title": copy.title = memo.title
      case "text": copy.text = memo.text
      default: break
      }
    }
  }

  /// The properties that the target has changed by itself.
  private func ownChanges(since token: HistoryToken) throws -> [UUID: Set<String>] {
    let context = target.newContext()
    var found: [UUID: Set<String>] = [:]
    for transaction in try target.history(since: token) where transaction.author != Self.author {
      for case .updated(let id, let properties) in transaction.changes(of: Memo.self) {
        if let memo = try context.object(with: id) { found[memo.id, default: []].formUnion(properties) }
      }
    }
    return found
  }
}
