// The model of the programs that must not compile.
