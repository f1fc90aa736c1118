import Foundation
import Testing
import TrellisModel

@Suite("Contents are known by their SHA-256") struct DigestTests {
  /// The examples of FIPS 180 and of NIST's collection of test vectors.
  static let examples = [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    (
      "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
      "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
    ),
  ]

  @Test("the standard's examples", arguments: examples) func examples(_ text: String, _ digest: String) {
    #expect(ContentDigest(of: Array(text.utf8)).text == digest)
  }

  @Test("a million times the letter a") func million() {
    let digest = ContentDigest(of: [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000))
    #expect(digest.text == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
  }

  @Test("every length around the end of a block has the digest that another program finds") func lengths() {
    // Found with another program, of the bytes 0, 1, 2 and so on.
    let known = [
      55: "463eb28e72f82e0a96c0a4cc53690c571281131f672aa229e0d45ae59b598b59",
      56: "da2ae4d6b36748f2a318f23e7ab1dfdf45acdc9d049bd80e59de82a60895f562",
      63: "29af2686fd53374a36b0846694cc342177e428d1647515f078784d69cdb9e488",
      64: "fdeab9acf3710362bd2658cdc9a29e8f9c757fcf9811603a8c447cd1d9151108",
      65: "4bfd2c8b6f1eec7a2afeb48b934ee4b2694182027e6d0fc075074f2fabb31781",
    ]
    for (count, digest) in known {
      let bytes = (0..<count).map { UInt8($0) }
      #expect(ContentDigest(of: bytes).text == digest, "\(count) bytes")
    }
  }

  @Test("a text is a digest only as 64 small hexadecimal digits") func texts() throws {
    let text = ContentDigest(of: [1, 2, 3]).text
    #expect(ContentDigest(text)?.text == text)
    for wrong in [
      "", text.uppercased(), text + "0", String(text.dropLast()), text.dropLast() + "g", " " + text.dropLast(),
    ] {
      #expect(ContentDigest(wrong) == nil, "\(wrong)")
    }
  }
}
