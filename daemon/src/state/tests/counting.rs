//! How things stand.

use super::{STRANGER, new_state, now, small_node};
use crate::state::{Figures, Input};
use common::cluster::{Event, Seen};
use serde_json::json;
use std::time::Duration;

#[test]
fn nodes_and_reservations_by_state() {
    let mut state = new_state();
    assert_eq!(
        state.figures(now(0)).reservations.len(),
        5,
        "each state is there, so that it can be seen to be 0"
    );
    let annotations = json!({
        format!("reserve.cpu/{STRANGER}"): "500m",
        format!("reserve.memory/{STRANGER}"): "1Ki",
        "reserve.cpu/nonsense!": "1",
    });
    let node = small_node(&annotations, 1);
    state.handle(Input::Cluster(Box::new(Event::Nodes(Seen::Applied(node)))), now(1));
    let figures = state.figures(now(2));
    assert_eq!((figures.nodes, figures.pods, figures.invalid), (1, 0, 1));
    assert_eq!(figures.reservations["Held"], 1);
    assert_eq!((figures.held["cpu"], figures.held["memory"], figures.held["pods"]), (500, 1024, 1));
    assert_eq!(figures.oldest, Duration::ZERO, "the plain form does not say when it was made");
    assert_ne!(figures, Figures::default());
}
