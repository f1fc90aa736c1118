import Foundation
import TrellisModel

/// The observers of the notifications of a container.
final class SuspensionObservers: Sendable {
  /// Sound because a notification center may be used from any thread, and a token is only passed back to it.
  private struct Observer: @unchecked Sendable {
    let center: NotificationCenter
    let token: any NSObjectProtocol
  }

  private let observers = Locked<[Observer]>([])

  deinit { removeAll() }

  func observe(_ names: [Notification.Name], _ center: NotificationCenter, _ body: @escaping @Sendable () -> Void) {
    for name in names {
      let token = center.addObserver(forName: name, object: nil, queue: nil) { _ in body() }
      let observer = Observer(center: center, token: token)
      observers.withLock { $0.append(observer) }
    }
  }

  func removeAll() {
    let former = observers.withLock { observers in
      defer { observers = [] }
      return observers
    }
    for observer in former { observer.center.removeObserver(observer.token) }
  }
}
