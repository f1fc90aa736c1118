import Foundation
import TrellisStorage

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Bionic)
  import Bionic
#elseif canImport(Darwin)
  import Darwin
#elseif os(Windows)
  import ucrt
#endif

/// The file system operations that are needed besides SQLite.
enum PlatformFiles {
  enum Creation {
    case created, exists
    case failed(String)
  }

  /// Creates an empty file that only its owner may read and write.
  static func create(_ path: String) -> Creation {
    #if os(Windows)
      if FileManager.default.fileExists(atPath: path) { return .exists }
      return FileManager.default.createFile(atPath: path, contents: nil) ? .created : .failed("it cannot be created")
    #else
      let descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
      if descriptor >= 0 {
        close(descriptor)
        return .created
      }
      return errno == EEXIST ? .exists : .failed(String(cString: strerror(errno)))
    #endif
  }

  /// The first bytes of a file.
  static func start(of path: String, _ count: Int) throws(FileProblem) -> [UInt8] {
    try SystemFiles().start(of: path, count)
  }

  static func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

  static func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }
}
