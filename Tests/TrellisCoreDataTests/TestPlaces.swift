import Foundation
import TrellisTestSupport

/// A folder that is removed with its owner.
final class Scratch {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "coredata-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  func file(_ name: String) -> URL { url.appending(path: name) }

  /// Writes the folder of a model, and returns its place.
  func model(_ name: String, _ contents: String) throws -> URL {
    let folder = file("\(name).xcdatamodel")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(contents.utf8).write(to: folder.appending(path: "contents"))
    return folder
  }
}

/// Files that stand beside the tests.
enum Fixtures {
  static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")

  static func url(_ name: String) -> URL { folder.appending(path: name) }
  static func bytes(_ name: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: url(name))) }
}

/// The length of random tests: `TRELLIS_COREDATA_MUTATIONS`.
enum Mutations {
  static let count = ProcessInfo.processInfo.environment["TRELLIS_COREDATA_MUTATIONS"].flatMap(Int.init) ?? 2_000

  /// Changes, removes, doubles or inserts a few bytes.
  static func mutate(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<Int.random(in: 1...6, using: &random) where !bytes.isEmpty {
      let place = Int.random(in: bytes.indices, using: &random)
      switch Int.random(in: 0..<6, using: &random) {
      case 0, 1: bytes[place] = UInt8.random(in: 0...255, using: &random)
      case 2: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      case 3: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...8, using: &random)))
      case 4: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
      default:
        let end = min(bytes.count, place + Int.random(in: 1...16, using: &random))
        bytes.insert(contentsOf: bytes[place..<end], at: Int.random(in: bytes.indices, using: &random))
      }
    }
    if Int.random(in: 0..<20, using: &random) == 0 { bytes.removeLast(Int.random(in: 0...bytes.count, using: &random)) }
    return bytes
  }
}
