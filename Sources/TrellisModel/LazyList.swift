public import Synchronization

/// A list whose elements are made when they are first used.
///
/// It can be used from any thread. If two threads ask for an element at the same time, both get the same one.
public struct LazyList<Element: AnyObject & Sendable>: RandomAccessCollection, Sendable {
  @usableFromInline let storage: LazyStorage<Element>

  /// - Parameters:
  ///   - count: The number of elements.
  ///   - make: Makes the element at an index. It may run more than once for an index, and then all results but one are
  ///     dropped.
  package init(count: Int, _ make: @escaping @Sendable (Int) -> Element) {
    storage = LazyStorage(count: count, make)
  }

  /// The index of the first element: 0.
  @inlinable public var startIndex: Int { 0 }
  /// The number of elements.
  @inlinable public var endIndex: Int { storage.count }

  /// The element at an index.
  ///
  /// - Precondition: the index is at least 0 and less than the number of elements.
  @inlinable public subscript(position: Int) -> Element {
    precondition(position >= 0 && position < storage.count, "the index is out of range")
    return storage.made(at: position) ?? storage.make(at: position)
  }
}

extension LazyList {
  /// A view of the elements that are made, without a reference to the list: a look at it retains nothing.
  ///
  /// A view is valid as long as its list.
  @frozen @_spi(Generated) public struct MadeElements: @unchecked Sendable {
    // `@unchecked` is sound because the pointer never changes, and the slots behind it are atomic.
    @usableFromInline let slots: UnsafeMutablePointer<Atomic<Int>>
    @usableFromInline let count: Int

    /// - Parameter list: The list, which lives at least as long as the view is used.
    @inlinable public init(of list: LazyList) {
      slots = list.storage.slots
      count = list.storage.count
    }

    /// The element at an index; nil if it was not made yet, or there is none.
    @inlinable public subscript(position: Int) -> Element? { reference(at: position)?.takeUnretainedValue() }

    /// What a closure reads of the element at an index, which is not retained; nil if the element was not made yet, or
    /// there is none.
    @inlinable @inline(__always) public func read<Value>(at position: Int, _ value: (Element) -> Value) -> Value? {
      // Sound because the list keeps its elements.
      reference(at: position)?._withUnsafeGuaranteedRef(value)
    }

    @inlinable @inline(__always) func reference(at position: Int) -> Unmanaged<Element>? {
      guard position >= 0 && position < count else { return nil }
      return LazyStorage.reference(slots[position].load(ordering: .acquiring))
    }
  }
}

/// The elements of a ``LazyList``, as far as they are made.
///
/// `@unchecked` is sound because the pointer never changes, and the slots behind it are atomic.
@usableFromInline final class LazyStorage<Element: AnyObject & Sendable>: @unchecked Sendable {
  @usableFromInline let count: Int
  /// The address of each element; 0 for those that are not made. A slot that has an element owns it and never changes
  /// again. They are numbers, because the metadata of a generic slot would be looked up for each.
  @usableFromInline let slots: UnsafeMutablePointer<Atomic<Int>>
  private let make: @Sendable (Int) -> Element

  init(count: Int, _ make: @escaping @Sendable (Int) -> Element) {
    self.count = count
    self.make = make
    slots = .allocate(capacity: count)
    // Sound because each place is within what was allocated.
    for place in 0..<count { (slots + place).initialize(to: Atomic(0)) }
  }

  deinit {
    // Sound because nothing refers to the storage any more, and each slot owns its element once.
    for place in 0..<count {
      let address = slots[place].load(ordering: .relaxed)
      // Most elements of a large list are never made.
      if address != 0 { Self.reference(address)?.release() }
    }
    slots.deallocate()
  }

  /// Sound because a slot has the address of an element that it owns, or 0.
  @inlinable static func reference(_ address: Int) -> Unmanaged<Element>? {
    UnsafeRawPointer(bitPattern: address).map { Unmanaged.fromOpaque($0) }
  }

  /// The element at a place within the list; nil if it was not made yet.
  @inlinable func made(at place: Int) -> Element? {
    Self.reference(slots[place].load(ordering: .acquiring))?.takeUnretainedValue()
  }

  @usableFromInline @inline(never) func make(at place: Int) -> Element {
    let element = make(place)
    let reference = Unmanaged.passRetained(element)
    let (isFirst, present) = slots[place].compareExchange(
      expected: 0, desired: Int(bitPattern: reference.toOpaque()), ordering: .acquiringAndReleasing)
    if isFirst { return element }
    // Another thread was faster.
    reference.release()
    return Self.reference(present)?.takeUnretainedValue() ?? element
  }
}
