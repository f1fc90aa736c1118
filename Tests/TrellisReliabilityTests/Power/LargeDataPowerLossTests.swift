import Foundation
import Testing
import Trellis
import TrellisJSON
@testable import TrellisStorage
import TrellisTestSupport

@testable import TrellisPictureLoop

/// Documents, and large data beside documents and SQLite files. What is lost of the one and kept of the other is drawn for each
/// file and each name of a file by itself.
@Suite("When the power goes, documents and large data are what was promised") struct LargeDataPowerLossTests {
  enum Kind: String, CaseIterable { case sqlite, json }

  @Test(
    "each picture that is found has its data, no save is there by half, and none is lost when saves are durable",
    arguments: Kind.allCases, Durability.allCases)
  func powerLoss(kind: Kind, durability: Durability) throws {
    let cuts = try PowerCuts(record(kind, durability), durability, usually: 25) { image, place in
      try look(at: image, kind, place)
    }
    print("\(kind) with large data, \(durability): \(cuts)")
    // Cuts that cost nobody anything would show nothing.
    if durability == .relaxed { #expect(cuts.losses > 0) }
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
