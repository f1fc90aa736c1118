import Foundation

/// The files beside a store in which Core Data keeps large values.
///
/// A value of an attribute that allows it begins with a byte: 1 if the rest is the value, 2 if the rest is the name of
/// a file in `.Diary_SUPPORT/_EXTERNAL_DATA` beside `Diary.sqlite`.
struct ExternalBlobs {
  private let folder: URL

  init(besides store: URL) {
    let name = store.deletingPathExtension().lastPathComponent
    folder = store.deletingLastPathComponent().appendingPathComponent(".\(name)_SUPPORT")
      .appendingPathComponent("_EXTERNAL_DATA")
  }

  enum Content: Equatable {
    case value([UInt8])
    /// The file with the value is not there, or cannot be read.
    case missingFile
  }

  func content(of bytes: [UInt8]) -> Content {
    switch bytes.first {
    case 1: return .value(Array(bytes.dropFirst()))
    case 2:
      guard let name = Self.fileName(bytes.dropFirst()) else { return .value(bytes) }
      guard let data = try? Data(contentsOf: folder.appendingPathComponent(name)) else { return .missingFile }
      return .value([UInt8](data))
    // Values from before the option was set have no such byte.
    default: return .value(bytes)
    }
  }

  /// The name of a file: a UUID. Nothing else leads out of the folder.
  private static func fileName(_ bytes: ArraySlice<UInt8>) -> String? {
    var bytes = bytes
    while bytes.last == 0 { bytes.removeLast() }
    let text = String(decoding: bytes, as: UTF8.self)
    return UUID(uuidString: text) == nil ? nil : text
  }
}
