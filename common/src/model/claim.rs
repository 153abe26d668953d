//! What a pod takes on its node besides room. Reserve plugins choose it, and the belief keeps it for the pod from then on.

use super::{ReservationId, VolumeChoice};

/// One thing that a pod takes on its node besides room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// A reservation that has a seat. The binding names it.
    Seat(ReservationId),
    Volume(VolumeChoice),
}

/// Everything that a pod takes on its node besides room.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claims(pub Vec<Claim>);

impl Claims {
    /// The seat, which the binding names; of several the first.
    pub fn seat(&self) -> Option<&ReservationId> {
        self.0.iter().find_map(|claim| match claim {
            Claim::Seat(seat) => Some(seat),
            Claim::Volume(_) => None,
        })
    }

    /// The volumes of claims that are not bound yet.
    pub fn volumes(&self) -> impl Iterator<Item = &VolumeChoice> {
        self.0.iter().filter_map(|claim| match claim {
            Claim::Volume(choice) => Some(choice),
            Claim::Seat(_) => None,
        })
    }
}

impl From<Option<ReservationId>> for Claims {
    fn from(seat: Option<ReservationId>) -> Self {
        Self(seat.into_iter().map(Claim::Seat).collect())
    }
}
