//! The election against an API server that follows a script.
