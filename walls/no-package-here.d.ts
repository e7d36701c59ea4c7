// Every bare specifier in the core leads here, and this file is not a module: whatever the core
// imports from a package or from Node is a compile error, and so is a type of it.
