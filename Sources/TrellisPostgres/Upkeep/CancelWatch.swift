import Dispatch
import TrellisStorage

/// Has the server end the running statement when an opening is cancelled: a long one does not look for itself.
final class CancelWatch {
  private let timer: any DispatchSourceTimer

  /// The time between two looks.
  private static let interval = DispatchTimeInterval.milliseconds(50)

  init?(_ observer: MigrationObserver?, _ connection: ServerConnection) {
    guard let observer, let cancellation = connection.cancellation() else { return nil }
    timer = DispatchSource.makeTimerSource(queue: .global())
    timer.schedule(deadline: .now() + Self.interval, repeating: Self.interval)
    timer.setEventHandler { if observer.isCancelled { cancellation.send() } }
    timer.activate()
  }

  deinit { timer.cancel() }
}
