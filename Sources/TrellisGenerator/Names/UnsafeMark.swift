/// `unsafe` before accesses to the stored properties of a class.
///
/// These accesses are not checked for exclusivity, so strict memory safety requires the mark. They are safe because an
/// object belongs to one isolation domain, and generated code calls nothing during an access. Compilers before 6.2 know
/// neither the keyword nor the setting; the tool is built by the same compiler that compiles its output.
#if compiler(>=6.2)
  let unsafeMark = "unsafe "
#else
  let unsafeMark = ""
#endif
