public import Foundation

/// How many diaries an import saves at a time.
public let importedAtOnce = 1_000

/// How many objects are looked at again and again, and how often, to measure the access to a property: few enough that the memory
/// behind them costs nothing.
public let accessedObjects = 1_000
public let accessRounds = 500

/// Long enough to lie outside the string.
public let writtenTexts = ["a text that does not fit into sixteen bytes", "another one that does not fit, either"]

/// How many live lists there are, and how many saves beside them.
public let observedLists = 1_000
public let savesBesideLists = 10

/// How many tasks read at the same time, and how often each; and how often the one writer saves.
public let readers = 100
public let readsOfAReader = 20
public let savesOfTheWriter = 100
/// The tracks that all of them read. The sum of their seconds is always the same: the writer moves seconds from one to another.
public let sharedTracks = 100
public let secondsOfASharedTrack = 1_000

/// How large a photo is.
public let bytesOfAPhoto = 1_000_000

/// How often one object of a document is changed and saved.
public let documentSaves = 5

/// The bytes of a photo, beside the clock.
public func photoBytes(_ number: Int) -> Data {
  var data = Data()
  unmeasured {
    var chance = Generator(seed: UInt64(number))
    let words = (0..<bytesOfAPhoto / 8).map { _ in chance.next() }
    data = words.withUnsafeBytes { Data($0) }
  }
  return data
}

/// A sum that shows that bytes are there and in their order, without going through all of them.
public func checksum(ofBytes bytes: UnsafeRawBufferPointer) -> Int {
  stride(from: 0, to: bytes.count, by: 997).reduce(bytes.count) { $0 &* 31 &+ Int(bytes[$1]) }
}

/// What the filter looks for among the diaries that are favorites.
public let leastIntensity = 4

/// A sum that is another one in another order.
public func orderedSum(_ values: [Int]) -> Int { values.reduce(0) { $0 &* 31 &+ $1 } }
