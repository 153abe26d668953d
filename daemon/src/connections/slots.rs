//! Which connections there are, and which of them makes room for a new one.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The connections of one server. Clones are one table.
#[derive(Debug, Clone)]
pub(super) struct Table(Arc<Mutex<Connections>>);

/// The slot of one connection.
#[derive(Debug)]
pub(crate) struct Slot {
    id: u64,
    table: Table,
}

#[derive(Debug)]
struct Connections {
    /// Each with the address that it comes from; the oldest has the lowest number.
    unauthenticated: BTreeMap<u64, IpAddr>,
    authenticated: BTreeSet<u64>,
    next: u64,
    most: usize,
    per_address: usize,
}

impl Table {
    pub(super) fn new(most: usize, per_address: usize) -> Self {
        let connections = Connections {
            unauthenticated: BTreeMap::new(),
            authenticated: BTreeSet::new(),
            next: 0,
            most,
            per_address,
        };
        Self(Arc::new(Mutex::new(connections)))
    }

    /// Whether a connection more can be had: there is a free slot, or an unauthenticated connection that can be closed.
    pub(super) fn has_room(&self) -> bool {
        let connections = self.lock();
        !connections.is_full() || !connections.unauthenticated.is_empty()
    }

    /// A slot for a new connection from `address`, and the connection that has to be closed for it, if any.
    pub(super) fn admit(&self, address: IpAddr) -> (Slot, Option<u64>) {
        let mut connections = self.lock();
        // `::ffff:10.0.0.1` is `10.0.0.1`.
        let address = address.to_canonical();
        let closed = connections.oldest_in_the_way(address);
        if let Some(id) = closed {
            connections.unauthenticated.remove(&id);
        }
        let id = connections.next;
        connections.next += 1;
        connections.unauthenticated.insert(id, address);
        (Slot { id, table: self.clone() }, closed)
    }

    /// A connection has ended.
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
        self.unauthenticated.len() + self.authenticated.len() >= self.most
    }

    /// The connection that has to be closed before there is one more from `address`. An address that has all it may have
    /// loses its own oldest one, so that it cannot push others out.
    fn oldest_in_the_way(&self, address: IpAddr) -> Option<u64> {
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

    /// It is known who is at the other end: from now on this connection is not closed to make room for others.
    pub(crate) fn authenticate(&self) {
        let mut connections = self.table.lock();
        // One that is being closed at this moment is not in the table any more.
        if connections.unauthenticated.remove(&self.id).is_some() {
            connections.authenticated.insert(self.id);
        }
    }
}
