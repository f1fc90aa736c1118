import Synchronization
import Testing
import TrellisModel

@Suite("A list that makes its elements when they are used") struct LazyListTests {
  private final class Numbered: Sendable {
    let number: Int

    init(_ number: Int) { self.number = number }
  }

  @Test("an element is made at its first use, and only once")
  func firstUse() {
    let made = Mutex<[Int]>([])
    let list = LazyList<Numbered>(count: 3) { place in
      made.withLock { $0.append(place) }
      return Numbered(place)
    }
    #expect(list.count == 3 && made.withLock { $0.isEmpty })
    #expect(list[1].number == 1 && list[1] === list[1])
    #expect(made.withLock { $0 } == [1])
    #expect(list.map(\.number) == [0, 1, 2])
    #expect(made.withLock { $0 } == [1, 0, 2])
  }

  @Test("copies of a list share its elements")
  func copies() {
    let list = LazyList<Numbered>(count: 1) { Numbered($0) }
    let copy = list
    #expect(list[0] === copy[0])
  }

  @Test("all threads get the same element")
  func threads() async {
    let list = LazyList<Numbered>(count: 500) { Numbered($0) }
    let results = await withTaskGroup(of: [ObjectIdentifier].self) { group in
      for _ in 0..<8 { group.addTask { list.map { ObjectIdentifier($0) } } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(Set(results).count == 1)
  }

  @Test("an element lives as long as its list")
  func lifetime() {
    weak var element: Numbered?
    do {
      let list = LazyList<Numbered>(count: 2) { Numbered($0) }
      element = list[0]
      #expect(element != nil)
      withExtendedLifetime(list) {}
    }
    #expect(element == nil)
  }

  @Test("an empty list has no elements")
  func empty() {
    #expect(LazyList<Numbered>(count: 0) { Numbered($0) }.isEmpty)
  }
}
