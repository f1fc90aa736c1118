import Foundation
import Testing
import Trellis
import TrellisStorage
import TrellisTestSupport

@testable import TrellisSaveLoop

@Suite("When the power goes, a SQLite file has what was promised") struct PowerLossTests {
  @Test(
    "whatever becomes of writes that were not brought to the disk: no save by half, and none lost when saves are durable",
    arguments: Durability.allCases)
  func powerLoss(durability: Durability) throws {
    let run = try RecordedRun(durability, saves: 300)
    let cuts = try PowerCuts(run, durability, usually: 15) { image, place in try look(at: image, place) }
    let (average, most) = run.syncsPerSave
    print("\(durability): \(cuts), \(average) syncs a save, at most \(most)")
    // Cuts that cost nobody anything would show nothing.
    if durability == .durable { #expect(average >= 1) } else { #expect(cuts.losses > 0) }
  }

  @Test("making a store may end at any step and with any loss: it is there, or can be made")
  func creation() throws {
    let run = try RecordedRun(.durable, saves: 3)
    var chance = SeededGenerator(seed: PowerCuts.seed)
    var history = DiskHistory()
    for (number, step) in run.steps.enumerated() {
      history.apply(step)
      for loss in DiskHistory.Loss.allCases {
        let found = try look(at: history.image(loss, &chance), "step \(number), lost \(loss), seed \(PowerCuts.seed)")
        #expect(found >= run.saves(at: number + 1).returned)
      }
    }
  }

  @Test("a database that another program was making when the power went is refused, and left as it is")
  func creationByOthers() throws {
    let folder = try TestFolder()
    let disk = try TestDisk(folder.url)
    disk.record()
    let file = LoopFile(kind: .sqlite, url: folder.file("loop"))
    try Data().write(to: file.url)
    _ = try PlainSQLite(file.url).rows("PRAGMA application_id = 7")
    var history = DiskHistory()
    for step in disk.steps.prefix(while: { $0.kind != .delete }) { history.apply(step) }
    var chance = SeededGenerator(seed: PowerCuts.seed)
    let image = history.image(.none, &chance)
    #expect(image.keys.sorted() == ["loop", "loop-journal"])
    for (name, bytes) in image { try Data(bytes).write(to: folder.file(name)) }
    failure(of: .foreignFile) { try file.open().close() }
    for (name, bytes) in image { #expect(try Data(contentsOf: folder.file(name)) == Data(bytes)) }
  }

  /// Opens what is left, looks through it, and saves once more.
  ///
  /// - Returns: how many saves are in it.
  private func look(at image: [String: [UInt8]], _ place: Comment) throws -> Int {
    let folder = try TestFolder()
    let file = LoopFile(kind: .sqlite, url: folder.file("loop"))
    for (name, bytes) in image { try Data(bytes).write(to: folder.file(name)) }
    do {
      let container = try file.open(.relaxed)
      defer { container.close() }
      #expect(try container.check().map { "\($0)" } == [], place)
      let picture = try file.picture()
      #expect(picture.halves == [], place)
      let next = try SaveLoop(writer: "a", context: container.newContext()).save()
      #expect(try next == picture.saves(of: "a") + 1 && file.picture().halves == [], place)
      return Int(picture.saves(of: "a"))
    } catch {
      Issue.record(error, place)
      return 0
    }
  }
}
