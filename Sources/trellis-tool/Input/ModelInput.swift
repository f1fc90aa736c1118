import Foundation
import TrellisModel
import TrellisModelFile

/// A model that a command reads: from a model file, a released version, or a store, which carries its model.
struct ModelInput {
  /// How the model is called in the output.
  let title: String
  let model: Model

  /// - Throws: ``ToolFailure`` with the errors of a model file.
  init(_ path: String) throws(ToolFailure) {
    guard !Self.isStore(path, mayBeEncrypted: false) else {
      throw InputFile.unreadable(path, "This is a store, and a model file or a released version is needed here.")
    }
    try self.init(InputFile.read(path), path)
  }

  /// - Parameter path: How the file is called in messages.
  init(_ bytes: [UInt8], _ path: String) throws(ToolFailure) {
    switch ModelHistory.version(in: ModelHistory.File(path: path, bytes: bytes)) {
    case .success(let version)?: self = try ModelInput(version, path)
    case .failure(let refusal)?: throw ToolFailure(.failure, refusal.diagnostic.rendered())
    case nil:
      let result = ModelFile.parse(bytes, path: path)
      guard let description = result.description else { throw ToolFailure(.failure, result.rendered()) }
      self = try ModelInput(title: path, description, path)
    }
  }

  init(_ version: ReleasedModel, _ path: String) throws(ToolFailure) {
    let description: ModelDescription
    do throws(StoredModelFault) {
      description = try version.description()
    } catch {
      throw ToolFailure(.failure, "\(path):1:1: error: \(error.message)")
    }
    self = try ModelInput(title: "version \(version.number) (\(version.released))", description, path)
  }

  private init(title: String, _ description: ModelDescription, _ path: String) throws(ToolFailure) {
    self.title = title
    do throws(SchemaError) {
      model = try Model(description)
    } catch {
      throw ToolFailure(.failure, "\(path):1:1: error: \(error.description)")
    }
  }
}

extension ModelInput {
  /// The model of a model file, a released version or a store.
  ///
  /// - Throws: ``ToolFailure``. Nothing is written to a store.
  static func modelOfAny(_ path: String) throws(ToolFailure) -> Model {
    try isStore(path, mayBeEncrypted: true) ? StoreOperand(path).model : ModelInput(path).model
  }

  /// Whether an operand is the address of a server, or a file that begins as a store does: a database has its signature or is
  /// encrypted, and a document the number of its format.
  ///
  /// - Parameter mayBeEncrypted: Whether bytes that are no text are taken for an encrypted store.
  static func isStore(_ path: String, mayBeEncrypted: Bool) -> Bool {
    if ServerPlace(path) != nil { return true }
    // The bytes of a pipe can be read once only; no store is one.
    let target = URL(filePath: path).resolvingSymlinksInPath().path
    let type = try? FileManager.default.attributesOfItem(atPath: target)[.type] as? FileAttributeType
    guard type == .typeRegular else { return false }
    guard let file = try? FileHandle(forReadingFrom: URL(filePath: path)) else { return false }
    defer { try? file.close() }
    guard let start = try? file.read(upToCount: StoreKey.lengthOfStart) else { return false }
    if start.starts(with: Data("SQLite format 3\0".utf8)) { return true }
    if mayBeEncrypted, StoreKey.isCiphertext(start) { return true }
    let text = String(decoding: start, as: UTF8.self).filter { !$0.isWhitespace && $0 != "\u{FEFF}" }
    return text.hasPrefix("{\"trellis\":")
  }
}
