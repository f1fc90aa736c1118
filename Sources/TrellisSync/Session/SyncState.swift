public import Foundation

/// What a ``SyncSession`` is doing.
public enum SyncState: Hashable, Sendable {
  /// Nothing is exchanged, because of an error that another attempt would meet again; nil if the session was not started, or
  /// was stopped.
  case stopped(SyncError?)
  /// Both stores had the same objects at a time. The next exchange begins after a save, or when its time has come.
  case idle(since: Date)
  /// Saves are sent to the server.
  ///
  /// - Parameter saves: The number of saves that are on their way.
  case sending(_ saves: Int)
  /// What others have saved is received.
  ///
  /// - Parameter objects: The number of objects that this exchange has received so far.
  case receiving(_ objects: Int)
  /// The last exchange failed, or another process is exchanging.
  ///
  /// - Parameters:
  ///   - until: When the next attempt begins.
  ///   - after: Why the last one failed.
  case waiting(until: Date, after: SyncError)
  /// The container is suspended. The next exchange begins when it is resumed.
  case suspended
}

extension SyncState: CustomStringConvertible {
  /// The state in a few words.
  public var description: String {
    switch self {
    case .stopped(nil): "stopped"
    case .stopped(let error?): "stopped: \(error)"
    case .idle: "idle"
    case .sending(let saves): "sending \(saves) saves"
    case .receiving(let objects): "receiving, \(objects) objects so far"
    case .waiting(_, let error): "waiting: \(error)"
    case .suspended: "suspended"
    }
  }
}
