import BenchModel
import Dispatch
import Foundation
import Trellis
import Workload

extension TrellisBench {
  /// Reads and writes of properties in nanoseconds, beside a hand-written class with stored properties.
  func propertyAccess(_ container: PersistentContainer) throws {
    guard settings.wants("propertyAccess"), !isMemory else { return }
    let context = container.newContext()
    let tracked = try context.fetch(Diary.all.limit(1_000))
    let access = PropertyAccess(tracked: tracked, plain: tracked.map { PlainDiary($0.snapshot) }, settings)
    access.measureReads()
    access.measureWrites()
    context.rollback()
  }
}

/// Few objects that are looked at again and again, so that the memory behind them costs neither side anything.
private struct PropertyAccess {
  private let tracked: [Diary]
  private let plain: [PlainDiary]
  private let trellis, floor: Report
  /// Long enough to lie outside the string.
  private let texts = ["a text that does not fit into sixteen bytes", "another one that does not fit, either"]

  init(tracked: [Diary], plain: [PlainDiary], _ settings: Settings) {
    self.tracked = tracked
    self.plain = plain
    trellis = Report("trellis", settings)
    floor = Report("plain", settings)
  }

  func measureReads() {
    let ratios = [
      compareReads("readInt64") {
        Int($0.intensity)
      } plain: {
        Int($0.intensity)
      },
      compareReads("readString") {
        $0.content.utf8.count
      } plain: {
        $0.content.utf8.count
      },
      compareReads("readBool") {
        $0.isFavorite ? 1 : 0
      } plain: {
        $0.isFavorite ? 1 : 0
      },
    ]
    trellis.figure("readRatio", geometricMean(ratios))
  }

  func measureWrites() {
    let texts = texts
    let ratios = [
      compareWrites("writeInt64") {
        $0.intensity = Int64($1)
      } plain: {
        $0.intensity = Int64($1)
      },
      compareWrites("writeString") {
        $0.content = texts[$1 & 1]
      } plain: {
        $0.content = texts[$1 & 1]
      },
      compareWrites("writeBool") {
        $0.isFavorite = $1 & 1 == 1
      } plain: {
        $0.isFavorite = $1 & 1 == 1
      },
    ]
    trellis.figure("writeRatio", geometricMean(ratios))
    let written = tracked.reduce(0) { $0 &+ $1.sum }, expected = plain.reduce(0) { $0 &+ $1.sum }
    precondition(written == expected, "the writes have not arrived")
  }

  @inline(__always)
  private func compareReads(
    _ name: String, _ read: (Diary) -> Int, plain plainRead: (PlainDiary) -> Int
  ) -> Double {
    compare(name) { object, _ in
      read(object)
    } plain: { object, _ in
      plainRead(object)
    }
  }

  @inline(__always)
  private func compareWrites(
    _ name: String, _ write: (Diary, Int) -> Void, plain plainWrite: (PlainDiary, Int) -> Void
  ) -> Double {
    compare(name) { object, turn in
      write(object, turn)
      return turn
    } plain: { object, turn in
      plainWrite(object, turn)
      return turn
    }
  }

  /// Prints the nanoseconds of both sides and returns their ratio. The sides take turns, and the best of each counts.
  @inline(__always)
  private func compare(
    _ name: String, _ access: (Diary, Int) -> Int, plain plainAccess: (PlainDiary, Int) -> Int
  ) -> Double {
    var best = Double.infinity, plainBest = Double.infinity
    for _ in 0..<7 {
      let (time, sum) = sweep(tracked, access)
      let (plainTime, plainSum) = sweep(plain, plainAccess)
      precondition(sum == plainSum, "\(name) reads other values than the hand-written class")
      best = min(best, time)
      plainBest = min(plainBest, plainTime)
    }
    trellis.figure(name, best)
    floor.figure(name, plainBest)
    return best / plainBest
  }
}

/// Nanoseconds of an access, and the sum of what the accesses returned, without which they could be left out.
///
/// The objects are not retained from turn to turn: that costs more than the access, and the same on both sides.
@inline(__always)
private func sweep<Object: AnyObject>(
  _ objects: [Object], _ access: (Object, Int) -> Int
) -> (nanoseconds: Double, sum: Int) {
  let rounds = 500
  let objects = objects.map(Unmanaged.passUnretained)
  var sum = 0
  let start = DispatchTime.now().uptimeNanoseconds
  for round in 0..<rounds {
    for object in objects { sum &+= object._withUnsafeGuaranteedRef { access($0, round) } }
  }
  let nanoseconds = DispatchTime.now().uptimeNanoseconds - start
  return (Double(nanoseconds) / Double(rounds * objects.count), sum)
}

private func geometricMean(_ values: [Double]) -> Double {
  exp(values.reduce(0) { $0 + log($1) } / Double(values.count))
}
