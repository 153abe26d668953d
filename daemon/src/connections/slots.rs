//! The table of connections: decides which connection is closed for a new one. No IO.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The connections of one server. Clones share one table.
#[derive(Debug, Clone)]
pub(super) struct Table(Arc<Mutex<Connections>>);

#[derive(Debug)]
pub(crate) struct Slot {
    id: u64,
    table: Table,
}

#[derive(Debug)]
struct Connections {
    /// The id of each connection and the client's address; the oldest has the lowest id.
    unauthenticated: BTreeMap<u64, IpAddr>,
    authenticated: BTreeSet<u64>,
    next: u64,
    connections_max: usize,
    per_address: usize,
}

impl Table {
    pub(super) fn new(connections_max: usize, per_address: usize) -> Self {
        let connections = Connections {
            unauthenticated: BTreeMap::new(),
            authenticated: BTreeSet::new(),
            next: 0,
            connections_max,
            per_address,
        };
        Self(Arc::new(Mutex::new(connections)))
    }

    /// Whether one more connection can be admitted: a slot is free, or an unauthenticated connection can be closed.
    pub(super) fn has_room(&self) -> bool {
        let connections = self.lock();
        !connections.is_full() || !connections.unauthenticated.is_empty()
    }

    /// A slot for a new connection from `address`, and the connection that has to be closed for it, if any.
    pub(super) fn admit(&self, address: IpAddr) -> (Slot, Option<u64>) {
        let mut connections = self.lock();
        // `::ffff:10.0.0.1` is `10.0.0.1`.
        let address = address.to_canonical();
        let closed = connections.connection_to_close(address);
        if let Some(id) = closed {
            connections.unauthenticated.remove(&id);
        }
        let id = connections.next;
        connections.next += 1;
        connections.unauthenticated.insert(id, address);
        (Slot { id, table: self.clone() }, closed)
    }

    pub(super) fn remove(&self, id: u64) {
        let mut connections = self.lock();
        connections.unauthenticated.remove(&id);
        connections.authenticated.remove(&id);
    }

    fn lock(&self) -> MutexGuard<'_, Connections> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connections {
    fn is_full(&self) -> bool {
        self.unauthenticated.len() + self.authenticated.len() >= self.connections_max
    }

    /// The connection that has to be closed before one more from `address` is admitted. An address at its limit loses its own
    /// oldest connection, so that it cannot push out others.
    fn connection_to_close(&self, address: IpAddr) -> Option<u64> {
        let mut same = self.unauthenticated.iter().filter(|(_, other)| **other == address);
        if let Some((oldest, _)) = same.next()
            && same.count() + 1 >= self.per_address
        {
            return Some(*oldest);
        }
        self.is_full().then(|| self.unauthenticated.keys().next().copied()).flatten()
    }
}

impl Slot {
    pub(super) fn id(&self) -> u64 {
        self.id
    }

    /// Marks the connection as authenticated: from now on it is not closed to make room for others.
    pub(crate) fn authenticate(&self) {
        let mut connections = self.table.lock();
        // A connection that was just closed for another one is no longer in the table.
        if connections.unauthenticated.remove(&self.id).is_some() {
            connections.authenticated.insert(self.id);
        }
    }
}
