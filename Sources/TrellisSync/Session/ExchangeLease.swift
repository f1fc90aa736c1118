import Foundation
import TrellisModel
import TrellisRuntime
import TrellisStorage

/// A note that says which process sends what a store has saved.
///
/// Two exchanges at a time lose nothing, but do the same work twice. A process that ends holds its lease until it is over.
struct ExchangeLease: Sendable {
  private static let name = "replica.lease"
  static let author = "sync lease"
  /// How long a lease is good for, in microseconds.
  private static let length: Int64 = 30_000_000

  private struct Note {
    let holder: UInt64
    let end: Int64

    init(holder: UInt64, end: Int64) {
      self.holder = holder
      self.end = end
    }

    /// - Returns: nil if it is of a version that is not known, which then holds nothing.
    init?(_ bytes: [UInt8]) {
      var reader = ByteReader(bytes)
      guard let version = try? reader.byte(), version == 1, let holder = try? reader.number(),
        let end = try? reader.signed()
      else { return nil }
      self.init(holder: holder, end: end)
    }

    var bytes: [UInt8] {
      var writer = ByteWriter()
      writer.byte(1)
      writer.number(holder)
      writer.signed(end)
      return writer.bytes
    }
  }

  /// Another process holds the lease.
  struct Taken: Error {
    /// The time until it is over, at most.
    let rest: Duration
  }

  private let replica: Replica
  private let clock: SessionClock
  private let holder = UInt64.random(in: .min ... .max)

  init(_ replica: Replica, _ clock: SessionClock) { (self.replica, self.clock) = (replica, clock) }

  /// Takes the lease, or makes it longer once half of its time is over.
  ///
  /// - Throws: ``Taken``; ``StoreError``.
  func take() throws {
    let former = try note()
    let now = clock.timeOfDay()
    if let former, let note = Note(former) {
      let (rest, isOverflow) = note.end.subtractingReportingOverflow(now)
      // A clock that was set back must not make a lease last for years.
      let isValid = !isOverflow && rest > 0 && rest <= Self.length
      if isValid && note.holder != holder { throw Taken(rest: .microseconds(rest)) }
      if isValid && rest > Self.length / 2 { return }
    }
    do {
      try write(Note(holder: holder, end: now &+ Self.length).bytes, former: former)
    } catch is StoreNoteConflict {
      throw Taken(rest: .seconds(1))
    }
  }

  /// Gives the lease back, if this process holds it.
  func giveBack() {
    guard let former = try? note(), Note(former)?.holder == holder else { return }
    // What cannot be given back ends by itself.
    try? write(nil, former: former)
  }

  private func note() throws -> [UInt8]? { try replica.plain.notes(beginningWith: Self.name)?[Self.name] }

  private func write(_ bytes: [UInt8]?, former: [UInt8]?) throws {
    let context = replica.plain.newContext()
    context.author = Self.author
    context.notes = [StoreNote(Self.name, former: former, value: bytes)]
    try context.save()
  }
}
