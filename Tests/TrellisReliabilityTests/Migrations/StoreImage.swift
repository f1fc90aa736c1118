import Foundation

/// The files in a folder and in the folders below it, with their contents.
struct StoreImage: Equatable {
  /// By the path within the folder.
  var files: [String: Data] = [:]

  init(_ files: [String: [UInt8]]) { self.files = files.mapValues { Data($0) } }

  init(of folder: URL) throws {
    for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
      let url = folder.appending(path: name)
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder), !isFolder.boolValue else {
        continue
      }
      files[name] = try Data(contentsOf: url)
    }
  }

  /// Replaces everything that is in a folder.
  func put(into folder: URL) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      try FileManager.default.removeItem(at: folder.appending(path: name))
    }
    for (name, content) in files {
      let url = folder.appending(path: name)
      if name.contains("/") {
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      }
      try content.write(to: url)
    }
  }

  /// The files whose names begin with a prefix, which is replaced.
  func renaming(_ prefix: String, to other: String) -> StoreImage {
    var image = StoreImage([:])
    for (name, content) in files where name.hasPrefix(prefix) {
      image.files[other + name.dropFirst(prefix.count)] = content
    }
    return image
  }
}
