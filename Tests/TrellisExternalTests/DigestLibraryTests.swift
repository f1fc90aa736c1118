import Foundation
import Testing
import TrellisModel
import TrellisTestSupport

@Suite("The library of the system finds the digests that the Swift code finds") struct DigestLibraryTests {
  private static let hasLibrary = ContentHasher(bySystem: true).isBySystem
  private static let need: Comment = "needs OpenSSL's libcrypto"

  private static func digest(_ pieces: [ArraySlice<UInt8>], bySystem: Bool) -> ContentDigest {
    var hasher = ContentHasher(bySystem: bySystem)
    for piece in pieces { piece.withUnsafeBytes { hasher.add($0) } }
    return hasher.digest()
  }

  @Test("the Swift code alone finds the digests of the standard's examples", arguments: DigestTests.examples)
  func examples(_ text: String, _ digest: String) {
    #expect(Self.digest([Array(text.utf8)[...]], bySystem: false).text == digest)
  }

  @Test(
    "the library finds the digests of the standard's examples", .enabled(if: hasLibrary, need),
    arguments: DigestTests.examples)
  func examplesOfLibrary(_ text: String, _ digest: String) {
    #expect(Self.digest([Array(text.utf8)[...]], bySystem: true).text == digest)
  }

  @Test(
    "both agree on every length of up to 300 bytes, and on random ones, in random pieces",
    .enabled(if: hasLibrary, need))
  func agreement() {
    var random = SeededGenerator(seed: TestSettings.seed())
    let lengths = Array(0...300) + (0..<20).map { _ in Int.random(in: 300...50_000, using: &random) }
    for length in lengths {
      let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
      let whole = Self.digest([bytes[...]], bySystem: false)
      #expect(Self.digest([bytes[...]], bySystem: true) == whole, "\(length) bytes")
      #expect(ContentDigest(of: bytes) == whole, "\(length) bytes")
      let pieces = Self.cut(bytes, &random)
      for bySystem in [false, true] {
        #expect(Self.digest(pieces, bySystem: bySystem) == whole, "\(length) bytes in pieces of \(pieces.map(\.count))")
      }
    }
  }

  private static func cut(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [ArraySlice<UInt8>] {
    let cuts = (0..<Int.random(in: 1...5, using: &random)).map { _ in Int.random(in: 0...bytes.count, using: &random) }
    let places = [0] + cuts.sorted() + [bytes.count]
    return zip(places, places.dropFirst()).map { bytes[$0..<$1] }
  }

  @Test("a copy of a digest that was begun goes on by itself", .enabled(if: hasLibrary, need)) func copies() {
    let bytes = [UInt8](repeating: 7, count: 1_000)
    var first = ContentHasher(bySystem: true)
    bytes.withUnsafeBytes { first.add($0) }
    var second = first
    bytes.withUnsafeBytes { second.add($0) }
    #expect(first.digest() == ContentDigest(of: bytes))
    #expect(second.digest() == ContentDigest(of: bytes + bytes))
  }

  @Test("many threads compute digests at once") func threads() {
    let contents = (0..<8).map { number in (0..<20_000 + number).map { UInt8(truncatingIfNeeded: $0 &* (number + 3)) } }
    let known = contents.map { Self.digest([$0[...]], bySystem: false) }
    DispatchQueue.concurrentPerform(iterations: 64) { turn in
      #expect(ContentDigest(of: contents[turn % 8]) == known[turn % 8])
    }
  }

  #if os(Linux)
    @Test(
      "a library that is missing, or lacks a function, leaves all to the Swift code",
      arguments: ["/nowhere/libcrypto.so", "libm.so.6"])
    func missing(_ file: String) async {
      await #expect(processExitsWith: .success) { [file = file as String] in
        setenv("TRELLIS_LIBCRYPTO_LIBRARY", file, 1)
        #expect(!ContentHasher(bySystem: true).isBySystem)
        let digest = ContentDigest(of: [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000))
        #expect(digest.text == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
      }
    }

    @Test("many threads that begin at once load the library once", .enabled(if: hasLibrary, need)) func firstUse() async
    {
      await #expect(processExitsWith: .success) {
        DispatchQueue.concurrentPerform(iterations: 32) { _ in
          var hasher = ContentHasher(bySystem: true)
          #expect(hasher.isBySystem)
          Array("abc".utf8).withUnsafeBytes { hasher.add($0) }
          #expect(hasher.digest().text == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        }
      }
    }

    @Test(
      "neither small contents nor half a megabyte of others load the library, and the next does",
      .enabled(if: hasLibrary, need))
    func load() async {
      await #expect(processExitsWith: .success) {
        // Loading it would now fail for good.
        setenv("TRELLIS_LIBCRYPTO_LIBRARY", "/nowhere", 1)
        for _ in 0..<200 { _ = ContentDigest(of: [UInt8](repeating: 1, count: 4_000)) }
        _ = ContentDigest(of: [UInt8](repeating: 1, count: 500_000))
        unsetenv("TRELLIS_LIBCRYPTO_LIBRARY")
        #expect(ContentHasher(expecting: 100_000).isBySystem)
        #expect(ContentHasher(expecting: 4_096).isBySystem)
        #expect(!ContentHasher(expecting: 4_095).isBySystem)
      }
    }
  #endif
}
