package import TrellisModel

extension ModelHistory {
  /// The error for a model that is exactly a version which another one has followed; nil if it is none.
  ///
  /// A store that had a model before its own takes every program with that model for an old one. So the model has to
  /// differ from the version in its text, for which another `"version"` is enough.
  ///
  /// - Parameter file: the file of the model.
  package func returnError(of model: ModelDescription, in file: File) -> Diagnostic? {
    let checksum = model.checksum
    guard let version = versions.first(where: { $0.checksum == checksum }),
      let next = versions.first(where: { $0.number > version.number && $0.checksum != checksum })
    else { return nil }
    return Diagnostic(
      .formerVersion,
      "The model is exactly version \(version.number) again, which version \(next.number) has followed, so a store of "
        + "version \(next.number) takes a program with it for an old one; write \"version\": \"\(freeVersion(of: model))\".",
      path: file.path, position: Self.position(ofVersionIn: file))
  }

  /// A number as the text of `"version"` that makes the model another one than each released version.
  private func freeVersion(of model: ModelDescription) -> Int {
    let checksums = Set(versions.map(\.checksum))
    var model = model
    var number = versions.count
    repeat {
      number += 1
      model.version = String(number)
    } while checksums.contains(model.checksum)
    return number
  }

  private static func position(ofVersionIn file: File) -> Diagnostic.Position {
    let bytes = file.bytes ?? []
    let root = ModelFile.readJSON(bytes, path: file.path).root?.object
    let offset = (root?["version"] ?? root?["model"])?.keyOffset ?? 0
    return bytes.withUnsafeBufferPointer { Positions(of: [offset], in: $0)[offset] }
  }
}
