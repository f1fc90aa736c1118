public import Foundation
import TrellisStorage

/// Answers the questions that ``FolderTransport`` puts into a folder.
///
/// ```swift
/// let answering = FolderServer(try SyncServer(office), in: URL(filePath: "/Volumes/Family/Diary"))
/// try await answering.run()
/// ```
/// Write access to the folder is the right to send requests. Several servers may answer in one folder, and one that ends at
/// any place leaves a request that is answered later.
public struct FolderServer: Sendable {
  private let server: SyncServer
  private let folder: ExchangeFolder
  private let age: Duration

  /// Creates the server of a folder.
  ///
  /// - Parameters:
  ///   - server: What answers.
  ///   - folder: The folder, which is there already.
  ///   - age: How long a file may lie in the folder until it counts as a leftover, such as an answer that nobody takes.
  public init(_ server: SyncServer, in folder: URL, removingAfter age: Duration = .seconds(7 * 86_400)) {
    self.init(server, ExchangeFolder(folder), age)
  }

  init(_ server: SyncServer, _ folder: ExchangeFolder, _ age: Duration) {
    self.server = server
    self.folder = folder
    self.age = age
  }

  /// Answers the questions that lie in the folder now. Those that are not complete yet are left for the next call.
  ///
  /// - Returns: the number of answers.
  /// - Throws: ``SyncError`` with the code `unreachable` if the folder cannot be used.
  @discardableResult public func answerAll() throws -> Int {
    var count = 0
    for name in try folder.names(.question) {
      guard let question = try folder.message(name, .question) else { continue }
      // The name is that of the bytes, or a program has put something else there.
      guard ExchangeFolder.Name(of: question) == name else { continue }
      try folder.write(server.answer(to: question), name, .answer)
      try folder.remove(name, .question)
      count += 1
    }
    return count
  }

  /// Removes the files that nobody has taken for longer than the time that ``init(_:in:removingAfter:)`` was given.
  ///
  /// - Throws: ``SyncError`` with the code `unreachable` if the folder cannot be used.
  public func removeLeftovers() throws {
    try folder.removeLeftovers(before: Date(timeIntervalSinceNow: -(age / .seconds(1))))
  }

  /// Answers questions until the task is cancelled. A folder that cannot be used for a while is tried again.
  ///
  /// - Parameter interval: The time between two looks into the folder.
  public func run(lookingEvery interval: Duration = .milliseconds(500)) async {
    var looks = 0
    while !Task.isCancelled {
      // A volume that is away comes back.
      let count = (try? answerAll()) ?? 0
      if looks % 1_000 == 0 { try? removeLeftovers() }
      looks &+= 1
      if count == 0 { try? await Task.sleep(for: interval) }
    }
  }
}
