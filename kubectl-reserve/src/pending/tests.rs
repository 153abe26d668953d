//! What is said about pods before nodes are looked at.
