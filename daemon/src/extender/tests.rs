//! The server by itself: every request gets an answer, and none that could be taken for "no node".
