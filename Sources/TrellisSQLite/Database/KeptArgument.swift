internal import CSQLite

/// What was made of a function's argument. SQLite keeps it with the statement for as long as the argument stays the same.
final class KeptArgument<Value> {
  private let value: Value

  private init(_ value: Value) { self.value = value }

  /// The value that was made of the second argument, made now if need be; nil when nothing can be made of it.
  ///
  /// A function keeps one argument at most, always as the same type.
  static func second(of context: OpaquePointer, _ make: () -> Value?) -> Value? {
    if let kept = trellis_sqlite3_get_auxdata(context, 1) {
      // Sound because nothing else is kept here, and SQLite gives it back before the release below.
      return Unmanaged<KeptArgument<Value>>.fromOpaque(kept).takeUnretainedValue().value
    }
    guard let value = make() else { return nil }
    // SQLite may call the release at once; the value is held by this function as well.
    trellis_sqlite3_set_auxdata(context, 1, Unmanaged.passRetained(KeptArgument(value)).toOpaque()) { pointer in
      // Whatever its value is, it is an object.
      if let pointer { Unmanaged<AnyObject>.fromOpaque(pointer).release() }
    }
    return value
  }
}
