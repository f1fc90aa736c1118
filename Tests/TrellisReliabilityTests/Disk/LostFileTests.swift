import Foundation
import Testing
import Trellis
import TrellisTestSupport

@testable import TrellisSaveLoop

@Suite("A SQLite file that goes while it is open is noticed") struct LostFileTests {
  enum Fate: CaseIterable { case removed, renamed, replaced }

  private let folder: TestFolder
  private let file: LoopFile
  private var files: FileManager { .default }

  init() throws {
    folder = try TestFolder()
    file = LoopFile(kind: .sqlite, url: folder.file("loop"))
    try file.fill(saves: 3)
    try LoopFile(kind: .sqlite, url: folder.file("other")).fill(saves: 7)
  }

  private func meet(_ fate: Fate) throws {
    switch fate {
    case .removed: try files.removeItem(at: file.url)
    case .renamed: try files.moveItem(at: file.url, to: folder.file("elsewhere"))
    case .replaced: try Data(contentsOf: folder.file("other")).write(to: file.url, options: .atomic)
    }
  }

  @Test(
    "the next save is refused, and the reads after it; what lies at the path is left alone", arguments: Fate.allCases)
  func noticed(fate: Fate) throws {
    let there = try useStore(fate)
    #expect((try? Data(contentsOf: file.url)) == there)
    if fate == .replaced { #expect(try file.picture().halves == [] && file.picture().saves(of: "a") == 7) }
  }

  /// - Returns: what lay at the path before anybody tried to save.
  private func useStore(_ fate: Fate) throws -> Data? {
    let container = try file.open()
    defer { container.close() }
    let context = container.newContext()
    let loop = SaveLoop(writer: "a", context: context)
    #expect(try loop.save() == 4)
    try meet(fate)
    let there = try? Data(contentsOf: file.url)
    for _ in 0..<2 { failure(of: .changedByOthers) { _ = try loop.save() } }
    failure(of: .changedByOthers) { _ = try context.count(Counter.all) }
    return there
  }

  @Test("a context that comes later does not take another file for the store's", arguments: Fate.allCases)
  func laterContext(fate: Fate) throws {
    let container = try file.open()
    let context = container.newContext()
    let known = try context.fetch(Counter.all).map(\.value)
    try meet(fate)
    // Its connection is one of the store's, to the file that was opened.
    let later = container.newContext()
    #expect(try later.fetch(Counter.all).map(\.value) == known)
    _ = Counter(in: later, name: "later")
    failure(of: .changedByOthers) { try later.save() }
    container.close()
  }

  @Test("a change of many rows is refused too")
  func changeOfManyRows() throws {
    let container = try file.open()
    let context = container.newContext()
    try meet(.removed)
    failure(of: .changedByOthers) { try context.deleteAll(Parent.all) }
    container.close()
  }

  @Test("a file that is put back is gone on with, and has what was saved before")
  func putBack() throws {
    let container = try file.open()
    let loop = SaveLoop(writer: "a", context: container.newContext())
    #expect(try loop.save() == 4)
    try meet(.renamed)
    failure(of: .changedByOthers) { _ = try loop.save() }
    try files.moveItem(at: folder.file("elsewhere"), to: file.url)
    #expect(try loop.save() == 5)
    container.close()
    #expect(try file.picture().halves == [] && file.picture().saves(of: "a") == 5)
  }
}
