import Foundation
import Testing
import Trellis
import TrellisStorage
import TrellisTestSupport

@testable import TrellisFile
@testable import TrellisPictureLoop
@testable import TrellisSQLite

/// Documents, and large data beside documents and SQLite files. What is lost of the one and kept of the other is drawn for each
/// file and each name of a file by itself.
@Suite("When the power goes, documents and large data are what was promised") struct LargeDataPowerLossTests {
  /// How many moments are tried, each with every kind of loss; more by the environment variable TRELLIS_POWER_CUTS.
  private static let cuts = ProcessInfo.processInfo.environment["TRELLIS_POWER_CUTS"].flatMap(Int.init) ?? 25
  private static let seed =
    ProcessInfo.processInfo.environment["TRELLIS_POWER_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 0...999_999)

  enum Kind: String, CaseIterable { case sqlite, json }

  @Test(
    "each picture that is found has its data, no save is there by half, and none is lost when saves are durable",
    arguments: Kind.allCases, Durability.allCases)
  func powerLoss(kind: Kind, durability: Durability) throws {
    let run = try record(kind, durability)
    var chance = SeededGenerator(seed: Self.seed)
    let moments = (0..<Self.cuts).map { chance.below($0 % 4 == 0 ? 60 : run.steps.count + 1) }.sorted()
    var history = DiskHistory()
    var (done, losses) = (0, 0)
    for moment in moments {
      for step in run.steps[done..<moment] { history.apply(step) }
      done = moment
      for loss in DiskHistory.Loss.allCases {
        let place: Comment = "step \(moment), lost \(loss), seed \(Self.seed)"
        let found = try look(at: history.image(loss, &chance), kind, place)
        let (begun, returned) = run.saves(at: moment)
        if found < returned { losses += 1 }
        #expect(found >= (durability == .durable ? returned : 0) && found <= begun, place)
      }
    }
    print(
      "\(kind) with large data, \(durability): \(moments.count * DiskHistory.Loss.allCases.count) power cuts, "
        + "seed \(Self.seed), \(losses) took saves that had returned")
    // Cuts that cost nobody anything would show nothing.
    if durability == .relaxed { #expect(losses > 0) }
  }

  private func record(_ kind: Kind, _ durability: Durability) throws -> RecordedRun {
    let folder = try TestFolder()
    let disk = try TestDisk(folder.url)
    let files = RecordingFiles(folder.url, disk)
    let configuration = StoreConfiguration { model in
      switch kind {
      case .json:
        return try JSONStore(
          path: folder.path("album.json"), model: model,
          options: DocumentOptions(durability: durability, largestInRow: 1_000), files: files)
      case .sqlite:
        var options = OpenOptions(durability: durability, busyTimeoutMilliseconds: 5_000, isReadOnly: false)
        (options.largestInRow, options.files) = (1_000, files)
        return try SQLiteStore(url: folder.file("album.sqlite"), model: model, options: options)
      }
    }
    return try RecordedRun(disk, saves: 40) {
      try PersistentContainer(model: .album, store: configuration, log: nil)
    } save: { container, context in
      try PictureLoop.save(container, context)
    }
  }

  /// Opens what is left, looks at all data, and saves once more.
  ///
  /// - Returns: how many saves are in it.
  private func look(at image: [String: [UInt8]], _ kind: Kind, _ place: Comment) throws -> Int {
    let folder = try TestFolder()
    let external = folder.path("album.\(kind).external")
    if image.keys.contains(where: { $0.contains("/") }) {
      try FileManager.default.createDirectory(atPath: external, withIntermediateDirectories: true)
    }
    for (name, bytes) in image { try Data(bytes).write(to: folder.file(name)) }
    let file = folder.file("album.\(kind)")
    do {
      let found = try PictureLoop.verify(file) { Issue.record("\($0)", place) }
      let container = try PersistentContainer(model: .album, store: PictureLoop.configuration(file), log: nil)
      defer { container.close() }
      #expect(try PictureLoop.save(container, container.newContext()) == found + 1, place)
      return found
    } catch {
      Issue.record(error, place)
      return 0
    }
  }
}

extension Issue {
  fileprivate static func record(_ message: String, _ place: Comment) {
    record(Comment(rawValue: "\(message), \(place)"))
  }
}
