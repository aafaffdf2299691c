"""How functions become machine code, where that is stored, and the threads that run it."""
