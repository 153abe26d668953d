//! The only clock of the command. Decisions use the API server's time; this one is for ages that are shown, for tokens that expire,
//! and for a server that sends no `Date` header (a real API server sends one).

use jiff::Timestamp;

#[expect(clippy::disallowed_methods, reason = "the command is the outermost layer")]
pub(crate) fn local_time() -> Timestamp {
    Timestamp::now()
}
