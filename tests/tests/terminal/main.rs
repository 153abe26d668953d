//! What people see: every verb of `kubectl reserve`, on a terminal of 80 columns with somebody who answers, and in a pipe.
//! The cluster is the sandbox, over HTTP; what is shown is held against golden files. `INSTA_UPDATE=always` accepts new ones:
//! read the difference.
#![forbid(unsafe_code)]

mod alive;
mod changing;
mod cluster;
mod command;
mod demo;
mod documents;
mod examples;
mod golden;
mod looking;
mod manners;
mod still;
mod unread;
