#if TRELLIS_SANITIZE_THREADS
  // The thread sanitizer does not see on Linux that Swift's own lock orders memory accesses, and would report every
  // value that one protects. It recognizes pthread locks.
  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #elseif canImport(Bionic)
    import Bionic
  #elseif canImport(Darwin)
    import Darwin
  #endif

  /// A value that only one thread can access at a time.
  package struct Locked<Value: ~Copyable>: ~Copyable {
    private let box: LockedBox<Value>

    package init(_ value: consuming sending Value) { box = LockedBox(value) }

    package func withLock<Result: ~Copyable, Problem: Error>(
      _ body: (inout sending Value) throws(Problem) -> sending Result
    ) throws(Problem) -> sending Result {
      pthread_mutex_lock(box.mutex)
      defer { pthread_mutex_unlock(box.mutex) }
      return try body(&box.value)
    }
  }

  // Safe because the value is accessed only between lock and unlock.
  extension Locked: @unchecked Sendable where Value: ~Copyable {}

  private final class LockedBox<Value: ~Copyable> {
    let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    var value: Value

    init(_ value: consuming Value) {
      self.value = value
      pthread_mutex_init(mutex, nil)
    }

    deinit {
      pthread_mutex_destroy(mutex)
      mutex.deallocate()
    }
  }
#else
  package import Synchronization

  /// A value that only one thread can access at a time.
  package typealias Locked<Value: ~Copyable> = Mutex<Value>
#endif
