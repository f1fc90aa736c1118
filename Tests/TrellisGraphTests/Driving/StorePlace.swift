import Foundation
import Trellis
import TrellisTestSupport

/// Where a test's store lies.
struct StorePlace {
  let configuration: StoreConfiguration
  private let folder: TestFolder

  init(_ kind: StoreKind) throws {
    folder = try TestFolder()
    configuration = kind.configuration(in: folder)
  }

  func remove() { try? FileManager.default.removeItem(at: folder.url) }
}
