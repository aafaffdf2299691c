"""How functions become machine code, where that is kept, and the threads that run it."""
