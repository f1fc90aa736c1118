public import Foundation
import TrellisStorage

extension PersistentContainer {
  /// Whether ``suspend(within:)`` was called, and not ``resume()`` since.
  public var isSuspended: Bool { core.isSuspended }

  /// Releases every lock and every open file of the store, before the system suspends the process.
  ///
  /// A system that suspends a process while it holds a lock on a file in a container that apps share ends that process.
  /// Statements that run are interrupted, and a save that is not committed yet is rolled back. From then on, calls that
  /// need the store throw ``StoreError`` with the code `suspended`. Contexts keep their objects and unsaved changes; what is
  /// not loaded reads as a placeholder, and is reported as a `load-failed`. Nothing else is lost.
  ///
  /// ```swift
  /// try container.suspend()
  /// // The process may be suspended here.
  /// container.resume()
  /// ```
  ///
  /// May be called from any thread. It blocks the thread until the store is released. A store without files, such as one
  /// on a server, goes on.
  ///
  /// - Parameter timeout: How long it waits for calls that are at work, two seconds by default. A commit that has begun, and
  ///   code of the program that a call runs, such as a step of a loop over a fetch, are not interrupted.
  /// - Throws: ``StoreError`` with the code `timedOut` if the store was still in use after the time-out. The container stays
  ///   suspended: calls end by themselves, and a second call waits for them again.
  public func suspend(within timeout: Duration = .seconds(2)) throws { try core.suspend(within: timeout) }

  /// Ends a suspension. The next call opens the file again, and finds what other programs have saved in the meantime.
  ///
  /// May be called from any thread. Does nothing if the container is not suspended.
  public func resume() { core.resume() }

  /// Suspends the container at some notifications, and ends the suspension at others, until the container is closed.
  ///
  /// The notifications of an app or an extension that the system is about to suspend are in
  /// ``SuspensionNotifications/system``. Calling this again replaces the former notifications.
  ///
  /// ```swift
  /// container.suspendAutomatically(at: SuspensionNotifications(
  ///   suspending: [.willSleep], resuming: [.didWake]))
  /// ```
  ///
  /// A suspension that does not end in time is reported to the container's error handler.
  ///
  /// - Parameters:
  ///   - notifications: The names of the notifications.
  ///   - timeout: See ``suspend(within:)``.
  ///   - center: Where the notifications are posted. The thread that posts one waits until the store is released.
  public func suspendAutomatically(
    at notifications: SuspensionNotifications = .system, within timeout: Duration = .seconds(2),
    center: NotificationCenter = .default
  ) {
    core.suspend(at: notifications, within: timeout, center: center)
  }
}

/// The notifications at which a container is suspended and resumed.
public struct SuspensionNotifications: Hashable, Sendable, CustomStringConvertible {
  /// The names of notifications that are posted before a suspension.
  public var suspending: [Notification.Name]
  /// The names of notifications that are posted after a suspension.
  public var resuming: [Notification.Name]

  /// Creates a list of notifications.
  public init(suspending: [Notification.Name], resuming: [Notification.Name]) {
    self.suspending = suspending
    self.resuming = resuming
  }

  public var description: String {
    func list(_ names: [Notification.Name]) -> String {
      names.isEmpty ? "never" : "at " + names.map(\.rawValue).joined(separator: ", ")
    }
    return "suspends \(list(suspending)), resumes \(list(resuming))"
  }

  /// The notifications of a system that suspends processes: iOS, tvOS and visionOS post them when the app, or the app
  /// that shows the extension, enters the background and before it leaves that. Empty on other systems.
  ///
  /// An app that goes on in the background, under `beginBackgroundTask` or in a background task of its own, calls
  /// ``PersistentContainer/suspend(within:)`` at the end of that instead.
  public static var system: SuspensionNotifications {
    #if os(iOS) || os(tvOS) || os(visionOS)
      SuspensionNotifications(
        suspending: [
          Notification.Name("UIApplicationDidEnterBackgroundNotification"),
          Notification.Name("NSExtensionHostDidEnterBackgroundNotification"),
        ],
        resuming: [
          Notification.Name("UIApplicationWillEnterForegroundNotification"),
          Notification.Name("NSExtensionHostWillEnterForegroundNotification"),
        ])
    #else
      SuspensionNotifications(suspending: [], resuming: [])
    #endif
  }
}

extension ContainerCore {
  func suspend(within timeout: Duration) throws {
    try checkOpen()
    suspended.store(true, ordering: .releasing)
    try store.suspend(within: timeout)
  }

  func resume() {
    suspended.store(false, ordering: .releasing)
    store.resume()
  }

  func suspend(at notifications: SuspensionNotifications, within timeout: Duration, center: NotificationCenter) {
    suspensionObservers.removeAll()
    suspensionObservers.observe(notifications.suspending, center) { [weak self] in
      guard let self, !self.isClosed else { return }
      do { try self.suspend(within: timeout) } catch {
        self.report(
          ContextError(.notSuspended, "The container could not release its store in time.", cause: error))
      }
    }
    suspensionObservers.observe(notifications.resuming, center) { [weak self] in self?.resume() }
  }
}
