// expect: type 'Entry' does not conform to protocol 'Entry.Hooks'
import Trellis

extension Entry {
  static func didSave(_ entry: Entry) {}
}
