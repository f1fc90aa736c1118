// expect: cannot assign value of type 'Set<Page>' to type 'OrderedToMany<Page>'
import MisuseModel
import Trellis

private func misuse(_ note: Note, _ pages: Set<Page>) {
  #if REPAIRED
    note.pages.replaceAll(with: pages)
  #else
    note.pages = pages
  #endif
}
