internal import CSQLite

/// The value computed from a function's argument. SQLite keeps it with the statement as long as the argument stays the
/// same.
final class KeptArgument<Value> {
  private let value: Value

  private init(_ value: Value) { self.value = value }

  /// The value computed from the second argument. It is computed now if it is not cached. Nil if there is no value for
  /// this argument.
  ///
  /// A function caches at most one argument, always as the same type.
  static func second(of context: OpaquePointer, _ make: () -> Value?) -> Value? {
    if let kept = trellis_sqlite3_get_auxdata(context, 1) {
      // Sound because this is the only object cached here, and SQLite returns it before the release below.
      return Unmanaged<KeptArgument<Value>>.fromOpaque(kept).takeUnretainedValue().value
    }
    guard let value = make() else { return nil }
    // SQLite may release the object at once, so this function keeps the value as well.
    trellis_sqlite3_set_auxdata(context, 1, Unmanaged.passRetained(KeptArgument(value)).toOpaque()) { pointer in
      // The object's class is the same for every value type here: it is only released.
      if let pointer { Unmanaged<AnyObject>.fromOpaque(pointer).release() }
    }
    return value
  }
}
