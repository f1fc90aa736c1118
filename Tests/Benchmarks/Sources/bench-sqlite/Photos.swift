import Foundation
import Workload

extension Floor {
  /// Each photo in a file beside the database, its name in a row, in one transaction. The files are on the disk before the rows are.
  func photosWrite(_ store: FloorStore) -> Work {
    let connection = store.connection
    let folder = store.path + ".external"
    return {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      try connection.transaction {
        try connection.with("INSERT INTO photo(version,name,file) VALUES(1,?,?)") { statement in
          for number in 0..<settings.items(.photosWrite) {
            let bytes = photoBytes(number)
            try bytes.withUnsafeBytes { try writeFile($0, to: "\(folder)/\(number)") }
            statement.bind(1, "photo \(number)")
            statement.bind(2, String(number))
            statement.run()
          }
        }
        try synchronizeFolder(folder)
      }
      return settings.items(.photosWrite)
    }
  }

  func photosRead(_ store: FloorStore) -> Work {
    let connection = store.connection
    let folder = store.path + ".external"
    return {
      try connection.with("SELECT name,file FROM photo ORDER BY pk") { rows in
        var sum = 0
        while rows.next() {
          let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(rows.text(1))"))
          sum &+= rows.text(0).utf8.count &+ bytes.withUnsafeBytes(checksum(ofBytes:))
        }
        return sum
      }
    }
  }
}

/// Writes a file that is there as a whole or not at all: under another name, to the disk, and renamed.
func writeFile(_ bytes: UnsafeRawBufferPointer, to path: String) throws {
  let file = open(path + ".new", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
  guard file >= 0 else { throw POSIXError(.EIO) }
  var rest = bytes[...]
  while !rest.isEmpty {
    let written = write(file, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
    guard written > 0 else { throw POSIXError(.EIO) }
    rest = rest.dropFirst(written)
  }
  guard fsync(file) == 0, close(file) == 0, rename(path + ".new", path) == 0 else { throw POSIXError(.EIO) }
}

private func synchronizeFolder(_ path: String) throws {
  let folder = open(path, O_RDONLY)
  guard folder >= 0, fsync(folder) == 0, close(folder) == 0 else { throw POSIXError(.EIO) }
}
