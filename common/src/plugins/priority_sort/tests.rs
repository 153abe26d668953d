//! PrioritySort: a table of cases.

use super::PrioritySort;
use crate::framework::{QueueSort, QueuedPodInfo};
use std::cmp::Ordering;

#[test]
fn priority_goes_before_time() {
    let turn = |(priority, arrival)| PrioritySort.sort_key(&QueuedPodInfo { priority, arrival });
    let table = [
        ((1, 5), (0, 1), Ordering::Less),
        ((0, 1), (1, 5), Ordering::Greater),
        ((0, 1), (0, 5), Ordering::Less),
        ((0, 5), (0, 1), Ordering::Greater),
        ((0, 1), (0, 1), Ordering::Equal),
        ((-1, 1), (0, 5), Ordering::Greater),
        ((i32::MAX, 1), (i32::MIN, 1), Ordering::Less),
    ];
    for (one, other, expected) in table {
        assert_eq!(turn(one).cmp(&turn(other)), expected, "{one:?} {other:?}");
    }
}
