extension StoreError {
  /// The failure of a call on a store that is suspended, or that was suspended during the call.
  package static func suspended(_ name: String) -> StoreError {
    StoreError(
      .suspended, "The store \(name) is suspended, so it is neither read nor written.",
      remedy: "Call resume() of the container and try again. What is not saved is still there.")
  }

  /// The failure of a suspension.
  package static func stillInUse(_ name: String, after timeout: Duration) -> StoreError {
    StoreError(
      .timedOut, "The store \(name) was still in use \(timeout) after it was suspended.",
      remedy: "Call suspend(within:) again, which waits on, or resume() to go on.")
  }
}
