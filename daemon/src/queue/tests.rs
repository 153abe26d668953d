//! The order of pods, and what wakes an unschedulable one up.

use super::{ANY_CHANGE, Backoff, Hints, PendingPods, Queue, RefusedBy};
use common::api;
use common::cluster::{ActionType, ClusterChange, ClusterEvent, EventResource};
use common::framework::{Plugin, QueueSort, QueueSortKey, QueuedPodInfo};
use common::model::ids::Text;
use common::model::{Pod, PodKey};
use common::plugins::priority_sort::PrioritySort;
use std::sync::Arc;
use std::time::Duration;

fn key(name: &str) -> PodKey {
    PodKey::new("default", name)
}

/// A replica of one template, like all the others.
fn pod(name: &str) -> Arc<Pod> {
    let owner = r#"{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web","uid":"web","controller":true}"#;
    let metadata =
        format!(r#"{{"name":"{name}","namespace":"default","uid":"{name}","ownerReferences":[{owner}]}}"#);
    Arc::new(api::pod::pod(&format!(r#"{{"metadata":{metadata},"spec":{{"nodeName":"n1"}}}}"#)).unwrap())
}

const ROOM: &str = "AssignedPodDelete";

/// Hints of plugins that are called like the event that helps.
struct ByName;

impl Hints for ByName {
    fn is_event_of_interest(&self, _scheduler: &Text, refused_by: &RefusedBy, event: ClusterEvent) -> bool {
        let is_wild = event.resource == EventResource::WildCard;
        is_wild || refused_by.contains(ANY_CHANGE) || refused_by.contains(&*event.to_string())
    }

    fn is_worth_requeuing(&self, _pod: &Pod, refused_by: &RefusedBy, change: &ClusterChange) -> bool {
        self.is_event_of_interest(&Text::default(), refused_by, change.event)
    }
}

fn room_freed() -> Arc<ClusterChange> {
    Arc::new(ClusterChange::of_any(EventResource::AssignedPod, ActionType::DELETE))
}

fn node_added() -> Arc<ClusterChange> {
    Arc::new(ClusterChange::of_any(EventResource::Node, ActionType::ADD))
}

fn owners_changed() -> Arc<ClusterChange> {
    Arc::new(ClusterChange::of_any(EventResource::WildCard, ActionType::UPDATE))
}

fn at(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn names(queue: &mut Queue, now: Duration) -> Vec<String> {
    std::iter::from_fn(|| queue.pop(now)).map(|pod| pod.name.to_string()).collect()
}

fn empty() -> Queue {
    Queue::new(Backoff::default(), Some(Arc::new(PrioritySort)))
}

/// A QueueSort plugin of the caller.
#[test]
fn the_order_is_a_plugins_to_say() {
    struct LastFirst;
    impl Plugin for LastFirst {
        fn name(&self) -> &'static str {
            "LastFirst"
        }
    }
    impl QueueSort for LastFirst {
        fn sort_key(&self, queued: &QueuedPodInfo) -> QueueSortKey {
            (-i64::try_from(queued.arrival).unwrap(), 0)
        }
    }
    let mut queue = Queue::new(Backoff::default(), Some(Arc::new(LastFirst)));
    let (one, other) = (key("one"), key("other"));
    queue.push(&one, 1000, Duration::ZERO);
    queue.push(&other, 0, Duration::ZERO);
    assert_eq!([queue.pop(Duration::ZERO), queue.pop(Duration::ZERO)], [Some(other), Some(one)]);
}

#[test]
fn higher_priority_goes_first_then_who_came_first() {
    let mut queue = empty();
    for (name, priority) in [("a", 0), ("b", 10), ("c", 0), ("d", 10)] {
        queue.push(&key(name), priority, at(0));
    }
    assert_eq!(names(&mut queue, at(0)), ["b", "d", "a", "c"]);
}

#[test]
fn whoever_was_tried_stands_at_the_end_of_the_line() {
    let mut queue = empty();
    for name in ["a", "b"] {
        queue.push(&key(name), 0, at(0));
        queue.pop(at(0)).unwrap();
    }
    queue.add_unschedulable(&pod("b"), [ROOM].into(), &ByName, at(0));
    queue.add_unschedulable(&pod("a"), [ROOM].into(), &ByName, at(0));
    queue.push(&key("new"), 0, at(20));
    queue.wake(&room_freed(), &ByName, at(20));
    queue.push(&key("a"), 0, at(20));
    assert_eq!(
        names(&mut queue, at(20)),
        ["b", "a", "new"],
        "in the order of their tries, then of their coming"
    );
    for name in ["b", "a"] {
        queue.add_unschedulable(&pod(name), [ROOM].into(), &ByName, at(20));
    }
    queue.retry(&key("new"), at(20));
    queue.push(&key("newer"), 0, at(40));
    queue.wake(&room_freed(), &ByName, at(60));
    queue.push(&key("newest"), 0, at(60));
    assert_eq!(names(&mut queue, at(60)), ["b", "a", "new", "newer", "newest"]);
}

#[test]
fn an_unschedulable_pod_waits_for_its_cure_and_for_its_backoff() {
    let mut queue = empty();
    queue.push(&key("a"), 0, at(0));
    queue.pop(at(0)).unwrap();
    queue.add_unschedulable(&pod("a"), [ROOM].into(), &ByName, at(0));
    queue.wake(&node_added(), &ByName, at(5));
    assert_eq!(names(&mut queue, at(5)), [""; 0], "another cure does not wake it");
    queue.wake(&room_freed(), &ByName, at(5));
    assert_eq!(names(&mut queue, at(5)), ["a"]);
}

#[test]
fn a_pod_that_was_just_tried_backs_off_while_others_are_active() {
    let mut queue = empty();
    queue.push(&key("a"), 5, at(0));
    queue.pop(at(0)).unwrap();
    queue.add_unschedulable(&pod("a"), [ROOM].into(), &ByName, at(0));
    queue.push(&key("b"), 0, at(0));
    queue.wake(&room_freed(), &ByName, at(0));
    assert_eq!(names(&mut queue, at(0)), ["b", "a"], "when there is nothing else to do it need not wait");
    queue.add_unschedulable(&pod("a"), [ROOM].into(), &ByName, at(1));
    queue.push(&key("c"), 0, at(3));
    queue.wake(&room_freed(), &ByName, at(3));
    assert_eq!(names(&mut queue, at(3)), ["a", "c"], "after two seconds it is over");
}

#[test]
fn a_pod_for_which_something_went_wrong_waits_for_its_time() {
    let mut queue = empty();
    queue.push(&key("a"), 0, at(0));
    for (now, next) in [(0, 1), (1, 3), (3, 7)] {
        queue.pop(at(now)).unwrap();
        queue.retry(&key("a"), at(now));
        queue.wake(&room_freed(), &ByName, at(now));
        assert_eq!(names(&mut queue, at(now)), [""; 0]);
        assert_eq!(queue.next_due(), Some(at(next)));
    }
    queue.pop(at(7)).unwrap();
    queue.add_unschedulable(&pod("a"), [ROOM].into(), &ByName, at(7));
    queue.wake(&room_freed(), &ByName, at(8));
    assert!(queue.is_active(&key("a")), "how often it found no place is counted by itself");
}

#[test]
fn what_happens_while_a_pod_is_decided_on_is_not_lost() {
    let mut queue = empty();
    queue.push(&key("a"), 0, at(0));
    queue.pop(at(0)).unwrap();
    queue.wake(&node_added(), &ByName, at(0));
    queue.add_unschedulable(&pod("a"), [ROOM].into(), &ByName, at(0));
    assert_eq!(names(&mut queue, at(9)), [""; 0], "that was no cure");
    queue.wake(&room_freed(), &ByName, at(9));
    queue.pop(at(9)).unwrap();
    queue.wake(&room_freed(), &ByName, at(9));
    queue.add_unschedulable(&pod("a"), [ROOM].into(), &ByName, at(9));
    assert_eq!(names(&mut queue, at(9)), ["a"]);
    queue.push(&key("a"), 0, at(9));
    queue.add_unschedulable(&pod("a"), [].into(), &ByName, at(9));
    assert_eq!(names(&mut queue, at(9)), ["a"], "it changed itself");
}

#[test]
fn a_pod_does_not_wake_itself() {
    let mut queue = empty();
    for name in ["a", "b"] {
        queue.push(&key(name), 0, at(0));
        queue.pop(at(0)).unwrap();
        queue.add_unschedulable(&pod(name), [ROOM].into(), &ByName, at(0));
    }
    let given_up = ClusterChange::of_assigned(Some(pod("a")), None);
    queue.wake(&Arc::new(given_up.clone()), &ByName, at(0));
    assert_eq!(names(&mut queue, at(0)), ["b"]);
    queue.add_unschedulable(&pod("b"), [ROOM].into(), &ByName, at(9));
    queue.activate(&key("a"));
    queue.pop(at(9)).unwrap();
    queue.wake(&Arc::new(given_up), &ByName, at(9));
    queue.add_unschedulable(&pod("a"), [ROOM].into(), &ByName, at(9));
    assert_eq!(names(&mut queue, at(99)), ["b"], "nor while it is in flight");
}

#[test]
fn a_boosted_pod_goes_first_within_its_priority() {
    let mut queue = empty();
    for (name, priority) in [("a", 0), ("b", 0), ("c", 5)] {
        queue.push(&key(name), priority, at(0));
    }
    queue.boost(&key("b"), 0, at(0));
    assert_eq!(names(&mut queue, at(0)), ["c", "b", "a"]);
}

#[test]
fn a_gated_pod_was_not_tried_and_comes_back_when_it_is_let() {
    let mut queue = empty();
    queue.push(&key("a"), 0, at(0));
    queue.pop(at(0)).unwrap();
    queue.gate(&pod("a"), [].into(), at(0));
    assert_eq!(queue.history(&key("a")).unwrap().attempts, 0);
    assert_eq!(queue.pending(), PendingPods { gated: 1, ..PendingPods::default() });
    for change in [room_freed(), node_added(), owners_changed()] {
        queue.wake(&change, &ByName, at(0));
    }
    assert_eq!(names(&mut queue, at(0)), [""; 0]);
    queue.activate(&key("a"));
    assert_eq!(queue.pending(), PendingPods { active: 1, ..PendingPods::default() });
    assert_eq!(names(&mut queue, at(0)), ["a"]);
}

#[test]
fn moves_are_counted_by_queue_and_reason() {
    let mut queue = empty();
    queue.push(&key("a"), 0, at(0));
    queue.pop(at(0)).unwrap();
    queue.add_unschedulable(&pod("a"), [ROOM].into(), &ByName, at(0));
    queue.wake(&room_freed(), &ByName, at(0));
    let moves: Vec<_> = queue
        .take_moves()
        .into_iter()
        .map(|((queue, reason), count)| (queue, reason.to_string(), count))
        .collect();
    let expected = [
        ("active", "PodAdd".to_owned(), 1),
        ("backoff", "AssignedPodDelete".to_owned(), 1),
        ("unschedulable", "ScheduleAttemptFailure".to_owned(), 1),
    ];
    assert_eq!(moves, expected);
    assert!(queue.take_moves().is_empty());
}

#[test]
fn how_long_a_pod_stays_unschedulable_or_gated_is_configured() {
    for (unschedulable_max, expected) in
        [(at(30), at(31)), (at(3600), at(3601)), (Duration::MAX, Duration::MAX)]
    {
        let backoff = Backoff { unschedulable_max, ..Backoff::default() };
        let mut queue = Queue::new(backoff, None);
        queue.push(&key("a"), 0, at(1));
        queue.pop(at(1)).unwrap();
        queue.add_unschedulable(&pod("a"), [ROOM].into(), &ByName, at(1));
        assert_eq!(queue.next_due(), Some(expected));
        queue.gate(&pod("a"), [].into(), at(1));
        assert_eq!(queue.next_due(), Some(expected));
        queue.add_unschedulable_for(&pod("a"), [ROOM].into(), at(7), &ByName, at(1));
        assert_eq!(queue.next_due(), Some(at(8)), "one that waits for something certain");
    }
}

#[test]
fn a_pod_that_is_tried_only_because_it_waited_for_so_long_is_known() {
    let was_flushed = |queue: &Queue| queue.history(&key("a")).unwrap().was_flushed;
    let mut queue = empty();
    queue.push(&key("a"), 0, at(0));
    queue.pop(at(0)).unwrap();
    queue.add_unschedulable(&pod("a"), [ROOM].into(), &ByName, at(0));
    queue.wake(&room_freed(), &ByName, at(299));
    queue.pop(at(299)).unwrap();
    assert!(!was_flushed(&queue));
    queue.add_unschedulable(&pod("a"), [ROOM].into(), &ByName, at(299));
    queue.pop(at(599)).unwrap();
    assert!(was_flushed(&queue));
    queue.add_unschedulable_for(&pod("a"), [ROOM].into(), at(7), &ByName, at(599));
    queue.pop(at(700)).unwrap();
    assert!(!was_flushed(&queue), "that one waited for something certain");
}

#[test]
fn an_unschedulable_pod_is_tried_again_after_five_minutes_whatever_happens() {
    let mut queue = empty();
    queue.push(&key("a"), 0, at(0));
    queue.pop(at(0)).unwrap();
    queue.add_unschedulable(&pod("a"), [].into(), &ByName, at(0));
    assert_eq!(names(&mut queue, at(299)), [""; 0]);
    assert_eq!(queue.next_due(), Some(at(300)));
    assert_eq!(names(&mut queue, at(300)), ["a"]);
}

#[test]
fn a_removed_pod_is_gone_from_every_sub_queue() {
    let mut queue = empty();
    for name in ["a", "b", "c"] {
        queue.push(&key(name), 0, at(0));
    }
    queue.remove(&key("b"));
    assert_eq!(names(&mut queue, at(0)), ["a", "c"]);
    queue.add_unschedulable(&pod("a"), [ROOM].into(), &ByName, at(0));
    queue.remove(&key("a"));
    queue.wake(&room_freed(), &ByName, at(9));
    assert_eq!(names(&mut queue, at(9)), [""; 0]);
    queue.remove(&key("c"));
    assert_eq!(queue.next_due(), None);
}

#[test]
fn a_changed_priority_counts_at_once_and_leaves_no_double() {
    let mut queue = empty();
    queue.push(&key("a"), 0, at(0));
    queue.push(&key("b"), 5, at(0));
    queue.push(&key("a"), 9, at(0));
    assert_eq!(names(&mut queue, at(0)), ["a", "b"]);
}

#[test]
fn a_pod_waits_a_moment_for_its_owner_and_only_once() {
    let mut queue = empty();
    queue.push(&key("a"), 0, at(0));
    queue.pop(at(0)).unwrap();
    assert!(queue.postpone(&pod("a"), at(0)));
    assert_eq!(names(&mut queue, at(0)), [""; 0]);
    queue.wake(&owners_changed(), &ByName, at(0));
    assert_eq!(names(&mut queue, at(0)), ["a"], "without a backoff, since nothing was tried");
    assert!(!queue.postpone(&pod("a"), at(0)));

    queue.push(&key("b"), 0, at(0));
    queue.pop(at(0)).unwrap();
    assert!(queue.postpone(&pod("b"), at(0)));
    assert_eq!(names(&mut queue, at(1)), ["b"], "the moment is over");
}

#[test]
fn pods_of_one_template_are_asked_about_once() {
    /// Counts how often it is asked.
    struct Counts(std::cell::Cell<u32>);
    impl Hints for Counts {
        fn is_event_of_interest(
            &self,
            _scheduler: &Text,
            refused_by: &RefusedBy,
            _event: ClusterEvent,
        ) -> bool {
            !refused_by.is_empty()
        }

        fn is_worth_requeuing(&self, _pod: &Pod, _refused_by: &RefusedBy, _change: &ClusterChange) -> bool {
            self.0.set(self.0.get() + 1);
            true
        }
    }
    let mut queue = empty();
    let template = pod("a");
    for number in 0..100 {
        let pod = Pod { key: key(&format!("a{number}")), ..Pod::clone(&template) };
        queue.push(&pod.key, 0, at(0));
        queue.pop(at(0)).unwrap();
        queue.add_unschedulable(&Arc::new(pod), [ROOM].into(), &ByName, at(0));
    }
    let counts = Counts(0.into());
    queue.wake(&room_freed(), &counts, at(99));
    assert_eq!((counts.0.get(), names(&mut queue, at(99)).len()), (1, 100));
}

#[test]
fn a_change_of_the_pod_itself_is_judged_like_any_other() {
    let mut queue = empty();
    queue.push(&key("a"), 0, at(0));
    queue.pop(at(0)).unwrap();
    let waiting = Pod { node: None, ..Pod::clone(&pod("a")) };
    let labelled = Pod { labels: Arc::new(common::model::Labels::new([("a", "b")])), ..waiting.clone() };
    let (waiting, labelled) = (Arc::new(waiting), Arc::new(labelled));
    let change = ClusterChange::of_pods(
        EventResource::TargetPod,
        Some(Arc::clone(&waiting)),
        Some(Arc::clone(&labelled)),
    );
    queue.add_unschedulable(&waiting, [ROOM].into(), &ByName, at(0));
    queue.update(&labelled, &change, &ByName, at(9));
    assert_eq!(names(&mut queue, at(9)), [""; 0]);
    queue.wake(&room_freed(), &ByName, at(9));
    assert_eq!(names(&mut queue, at(9)), ["a"], "it is still found");
    for refused_by in [RefusedBy::new(), ["TargetPodUpdatePodLabel"].into()] {
        queue.add_unschedulable(&waiting, refused_by, &ByName, at(9));
        queue.update(&labelled, &change, &ByName, at(99));
        assert_eq!(names(&mut queue, at(99)), ["a"]);
    }
}

#[test]
fn a_pod_that_was_in_flight_for_too_many_changes_is_tried_again() {
    let mut queue = empty();
    for (changes, expected) in [(10_000, 0), (10_001, 1)] {
        queue.push(&key("a"), 0, at(0));
        queue.pop(at(0)).unwrap();
        (0..changes).for_each(|_| queue.wake(&node_added(), &ByName, at(0)));
        queue.add_unschedulable(&pod("a"), [ROOM].into(), &ByName, at(0));
        assert_eq!(names(&mut queue, at(9)).len(), expected);
    }
}
