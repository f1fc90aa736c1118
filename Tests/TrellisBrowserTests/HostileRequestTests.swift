import Foundation
import Testing
import TrellisTestSupport

@testable import TrellisBrowser

@Suite("Hostile requests") struct HostileRequestTests {
  @Test("a request with another host reaches no page, whatever its path")
  func hosts() throws {
    let place = try BrowsedStore(isWritable: true)
    for host in ["evil.example", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:8000.evil.example", "", "[::1]:8000"] {
      #expect(place.request("GET", place.site.address(), ["Host: \(host)"]).status == .misdirected, "\(host)")
    }
    for host in ["127.0.0.1:8000", "localhost:8000", "LOCALHOST:8000"] {
      #expect(place.request("GET", place.site.address(), ["Host: \(host)"]).status == .ok, "\(host)")
    }
    #expect(place.request("GET", place.site.address(), ["Host: 127.0.0.1:8000", "Host: evil"]).status == .badRequest)
  }

  @Test("an address without the whole token leads nowhere")
  func tokens() throws {
    let place = try BrowsedStore(isWritable: true)
    let token = place.site.token
    #expect(token.count == 32)
    for path in [
      "/", "/\(token.dropLast())/", "/\(token)x/", "/\(token.uppercased())x/", "/x/\(token)/", "//", "/%2F\(token)",
    ] {
      #expect(place.request("GET", path, []).status == .notFound, "\(path)")
    }
    #expect(Set((0..<100).map { _ in Site.randomToken() }).count == 100)
  }

  @Test("a form of a page from elsewhere changes nothing")
  func origins() throws {
    let place = try BrowsedStore(isWritable: true)
    let fields = ["version": "1"]
    for header in [
      "Origin: http://evil.example", "Origin: null", "Origin: http://127.0.0.1:9", "Sec-Fetch-Site: cross-site",
      "Sec-Fetch-Site: same-site",
    ] {
      #expect(place.post("object/Diary/1/delete", fields, headers: [header]).status == .forbidden, "\(header)")
    }
    #expect(place.request("PUT", place.site.address(), []).status == .methodNotAllowed)
    #expect(try place.container.newContext().count("Diary") == 2)
    let own = ["Origin: http://127.0.0.1:8000", "Sec-Fetch-Site: same-origin"]
    #expect(place.post("object/Diary/1/delete", fields, headers: own).status == .seeOther)
  }

  @Test("the response lets no script run, nothing be loaded from elsewhere, and no frame show it")
  func headers() throws {
    let place = try BrowsedStore(isWritable: false)
    let head = String(decoding: place.get(place.site.address()).bytes(withBody: false), as: UTF8.self)
    for part in [
      "default-src 'none'", "frame-ancestors 'none'", "form-action 'self'", "nosniff", "Referrer-Policy: same-origin",
      "no-store",
    ] {
      #expect(head.contains(part))
    }
    #expect(!head.contains("script-src") && !head.contains("unsafe"))
  }

  @Test("a request is bounded in each of its lengths")
  func limits() throws {
    func status(_ text: String) -> HTTPStatus? {
      var parser = HTTPRequestParser()
      do throws(RefusedRequest) { return try parser.add(text.utf8) == nil ? nil : .ok } catch { return error.status }
    }
    #expect(status("GET / HTTP/1.1\r\n\r\n") == .ok)
    #expect(status("GET / HTTP/1.1\r\n") == nil)
    #expect(status(String(repeating: "a", count: 20_000)) == .headersTooLarge)
    #expect(status("GET / HTTP/1.1\r\n" + String(repeating: "a: b\r\n", count: 200) + "\r\n") == .headersTooLarge)
    #expect(status("POST / HTTP/1.1\r\n\r\n") == .lengthRequired)
    #expect(status("POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n") == .contentTooLarge)
    #expect(status("POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n") == .badRequest)
    #expect(status("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab") == .badRequest)
    #expect(status("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n") == .lengthRequired)
    #expect(status("GET http://a/ HTTP/1.1\r\n\r\n") == .badRequest)
    #expect(status("GET / HTTP/2.0\r\n\r\n") == .badRequest)
    #expect(status("GET /%zz HTTP/1.1\r\n\r\n") == .badRequest)
    #expect(status("GET /%ff HTTP/1.1\r\n\r\n") == .badRequest)
  }

  @Test("no parameter of an address makes a page fail, whatever its value is")
  func parameters() throws {
    let place = try BrowsedStore(isWritable: true)
    let deep = String(repeating: "NOT (", count: 300) + "title == 'a'" + String(repeating: ")", count: 300)
    let values = [
      "", "-", ",", "title", "-title", "titel", "images", "words", "place", "place.name", "SELF", "1", "-1", "0", "%",
      "9999999999999999999999", "\u{0}", "'", "title ==", "title == %@", "$x == 1", "rating / 0 > 1", deep,
      Array(repeating: "title", count: 70).joined(separator: ","), String(repeating: "rating,-", count: 600),
      Array(repeating: "title == 'a'", count: 400).joined(separator: " OR "), "all", "nothing",
    ]
    for name in ["where", "sort", "page", "column", "images-page", "other"] {
      for value in values {
        for path in ["entity/Diary", "entity/Tag", "object/Diary/1"] {
          let address = "\(place.site.address())\(path)?\(name)=\(FormFields.encoded(value))"
          let status = place.get(address).status
          #expect(status != .serverError && status != .unavailable, "\(name)=\(value.prefix(80))")
        }
      }
    }
    let sorted = place.get("\(place.site.address())entity/Diary?sort=\(values[23])")
    #expect([.ok, .badRequest].contains(sorted.status))
  }

  /// How many mutated requests are tried: `TRELLIS_BROWSER_REQUESTS`, or 2,000.
  @Test("mutated requests get an answer, and never one of another site")
  func mutations() throws {
    let place = try BrowsedStore(isWritable: true)
    let seed = UInt64(TestSettings.number("TRELLIS_BROWSER_SEED", or: Int.random(in: 0 ... .max)))
    let count = TestSettings.number("TRELLIS_BROWSER_REQUESTS", or: 2_000)
    print("seed \(seed), \(count) requests")
    var random = SeededGenerator(seed: seed)
    let form = "version=1&title=a&rating=%35&mood=sad&tags=Tag%231&nil%3Anote=on"
    let requests = [
      "GET \(place.site.address()) HTTP/1.1\r\nHost: 127.0.0.1:8000\r\n\r\n",
      "GET \(place.site.address())entity/Diary?where=title%20%3D%3D%20%22a%22&sort=-title&page=2 HTTP/1.1\r\nHost: localhost:8000\r\n\r\n",
      "POST \(place.site.address())object/Diary/1/edit HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nContent-Length: \(form.utf8.count)\r\n\r\n\(form)",
      "GET \(place.site.address())object/Image/4/data/data HTTP/1.1\r\nHost: 127.0.0.1:8000\r\n\r\n",
    ].map { Array($0.utf8) }
    var answered = 0
    for _ in 0..<count {
      var bytes = requests[Int.random(in: requests.indices, using: &random)]
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let place = Int.random(in: bytes.indices, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes[place] = .random(in: 0...255, using: &random)
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
        default: bytes.insert(contentsOf: bytes[place..<min(place + 20, bytes.count)], at: place)
        }
      }
      var parser = HTTPRequestParser()
      do throws(RefusedRequest) {
        guard let request = try parser.add(bytes) else { continue }
        answered += 1
        let response = place.site.answer(request, port: BrowsedStore.port)
        #expect(response.status != .serverError, "\(String(decoding: bytes, as: UTF8.self))")
      } catch {}
    }
    #expect(answered > count / 20)
    #expect(try place.container.check().isEmpty)
  }
}
