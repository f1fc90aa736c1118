import TrellisModel
import TrellisStorage

/// Says when a ``FailingStore`` fails.
final class FailureSwitch: Sendable {
  enum Setting {
    case off
    /// The n-th call of the store from now on fails, counted from 0.
    case call(Int)
    /// The n-th thing that the next save writes cannot be written, counted from 0.
    case record(Int)
  }

  private struct State {
    var setting = Setting.off
    var failures = 0
  }

  private let state = Locked(State())

  /// How often the store has failed.
  var failures: Int { state.withLock { $0.failures } }

  func set(_ setting: Setting) { state.withLock { $0.setting = setting } }

  func passCall() throws {
    try state.withLock { state in
      guard case .call(let left) = state.setting else { return }
      state.setting = left == 0 ? .off : .call(left - 1)
      guard left == 0 else { return }
      state.failures += 1
      throw InjectedFailure()
    }
  }

  /// The number of the thing that cannot be written, once.
  func takeRecord() -> Int? {
    state.withLock { state in
      guard case .record(let number) = state.setting else { return nil }
      state.setting = .off
      return number
    }
  }

  func countFailure() { state.withLock { $0.failures += 1 } }
}

struct InjectedFailure: Error {}
