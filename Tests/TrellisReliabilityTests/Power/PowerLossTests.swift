import Foundation
import Testing
import Trellis
import TrellisStorage
import TrellisTestSupport

@testable import TrellisSaveLoop

@Suite("When the power goes, a SQLite file has what was promised") struct PowerLossTests {
  /// How many moments are tried, each with every kind of loss; more by the environment variable TRELLIS_POWER_CUTS.
  private static let cuts = ProcessInfo.processInfo.environment["TRELLIS_POWER_CUTS"].flatMap(Int.init) ?? 40
  private static let seed =
    ProcessInfo.processInfo.environment["TRELLIS_POWER_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 0...999_999)

  @Test(
    "whatever becomes of writes that were not brought to the disk: no save by half, and none lost when saves are durable",
    arguments: Durability.allCases)
  func powerLoss(durability: Durability) throws {
    let run = try RecordedRun(durability, saves: 300)
    var chance = SeededGenerator(seed: Self.seed)
    // The first steps make the store, so they are tried more often than those of the saves.
    let moments = (0..<Self.cuts).map { chance.below($0 % 4 == 0 ? 60 : run.steps.count + 1) }.sorted()
    var history = DiskHistory()
    var (done, losses) = (0, 0)
    for moment in moments {
      for step in run.steps[done..<moment] { history.apply(step) }
      done = moment
      for loss in DiskHistory.Loss.allCases {
        let found = try look(at: history.image(loss, &chance), "step \(moment), lost \(loss), seed \(Self.seed)")
        let (begun, returned) = run.saves(at: moment)
        if found < returned { losses += 1 }
        let least = durability == .durable ? returned : 0
        #expect(
          found >= least && found <= begun,
          "step \(moment), lost \(loss), seed \(Self.seed): \(returned) saves returned, \(found) found")
      }
    }
    let (average, most) = run.syncsPerSave
    print(
      "\(durability): \(moments.count * DiskHistory.Loss.allCases.count) power cuts, seed \(Self.seed), "
        + "\(losses) took saves that had returned, \(average) syncs a save, at most \(most)")
    // Cuts that cost nobody anything would show nothing.
    if durability == .durable { #expect(average >= 1) } else { #expect(losses > 0) }
  }

  @Test("making a store may end at any step and with any loss: it is there, or can be made")
  func creation() throws {
    let run = try RecordedRun(.durable, saves: 3)
    var chance = SeededGenerator(seed: Self.seed)
    var history = DiskHistory()
    for (number, step) in run.steps.enumerated() {
      history.apply(step)
      for loss in DiskHistory.Loss.allCases {
        let found = try look(at: history.image(loss, &chance), "step \(number), lost \(loss), seed \(Self.seed)")
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
    var chance = SeededGenerator(seed: Self.seed)
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
