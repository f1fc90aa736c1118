/// What an object holds of its context: a way there that does not keep it alive.
///
/// Swift's `weak` would cost a side table for each context reference and slow every retain; this is one more object for
/// each context instead, which the context empties when it dies.
@_spi(Generated) public final class ContextLink {
  // Sound because a context and its objects are confined to one isolation domain, neither being Sendable, and because
  // the context's deinit sets this to nil before its memory goes.
  @exclusivity(unchecked) unowned(unsafe) var context: ManagedObjectContext?

  init() {}
}
