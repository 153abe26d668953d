//! The server over real TLS.
