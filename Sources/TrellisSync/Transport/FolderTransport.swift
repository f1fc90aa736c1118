public import Foundation
import TrellisStorage

/// A server that is reached by files in a folder, such as on a shared drive or in iCloud Drive.
///
/// ```swift
/// let transport = FolderTransport(URL(filePath: "/Volumes/Family/Diary"))
/// try await replica.exchange(with: transport)
/// ```
/// A ``FolderServer`` has to answer the questions that lie in the folder, and whoever may write to the folder can ask. Files
/// that are not complete yet count as not there. If there is no answer in time, the question stays in the folder: an answer
/// that comes later is found by the next exchange, in a later run of the program as well, and what it does not tell comes with
/// the exchange after that. The transport can be used from any thread; a call ends when its task is cancelled.
public struct FolderTransport: SyncTransport {
  private let folder: ExchangeFolder
  private let timeout: Duration
  private let shortest: Duration
  private let longest: Duration

  /// Creates a transport by a folder.
  ///
  /// - Parameters:
  ///   - folder: The folder, which is there already.
  ///   - timeout: How long a call waits for an answer.
  ///   - longest: The longest time between two looks into the folder. The first ones follow each other faster.
  public init(_ folder: URL, timeout: Duration = .seconds(60), lookingEvery longest: Duration = .seconds(2)) {
    self.init(ExchangeFolder(folder), timeout: timeout, longest: longest)
  }

  init(_ folder: ExchangeFolder, timeout: Duration, longest: Duration) {
    self.folder = folder
    self.timeout = timeout
    self.longest = longest
    shortest = min(.milliseconds(20), longest)
  }

  /// 64 MiB, since a file may take minutes whatever its size is.
  public var messageSize: Int { 1 << 26 }

  /// Puts a message into the folder, and waits for the answer.
  ///
  /// - Throws: ``SyncError`` with the code `unreachable` if there is no answer in time, or the folder cannot be used;
  ///   `CancellationError`.
  public func answer(to message: [UInt8]) async throws -> [UInt8] {
    let name = ExchangeFolder.Name(of: message)
    let end = ContinuousClock.now + timeout
    // What is there may be of a former exchange that has not waited long enough.
    if let answer = try take(name) { return answer }
    if try folder.message(name, .question) == nil { try folder.write(message, name, .question) }
    var pause = shortest
    while true {
      try await Task.sleep(for: pause)
      if let answer = try take(name) { return answer }
      if !folder.has(name, .question) {
        // A server that has answered the same question before removes it late; this one has to be answered as well.
        if let answer = try take(name) { return answer }
        try folder.write(message, name, .question)
      }
      guard ContinuousClock.now < end else { throw SyncError.unreachable("the folder has no answer") }
      pause = min(pause * 2, longest)
    }
  }

  /// - Returns: the answer, which is removed.
  private func take(_ name: ExchangeFolder.Name) throws(SyncError) -> [UInt8]? {
    guard let answer = try folder.message(name, .answer) else { return nil }
    // In this order: a question that stays would be answered again.
    try folder.remove(name, .question)
    try folder.remove(name, .answer)
    return answer
  }
}
