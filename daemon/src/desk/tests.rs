//! The desk driven without a client: questions in, answers compared.
