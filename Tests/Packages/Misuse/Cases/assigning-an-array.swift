// expect: cannot assign value of type '[Page]' to type 'OrderedToMany<Page>'
import MisuseModel
import Trellis

private func misuse(_ note: Note, _ pages: [Page]) {
  #if REPAIRED
    note.pages.replaceAll(with: pages)
  #else
    note.pages = pages
  #endif
}
