//! Properties of random questions: without reservations everything passes, and no pod gets reserved room.

use super::{json_pod, listed, made_node, names, refused, reserved, stranger};
use crate::extender_logic::{Question, Reply};
use common::model::NodeName;
use serde_json::json;
use std::sync::Arc;

#[test]
fn without_reservations_the_answer_is_the_question() {
    let mut rng = fastrand::Rng::with_seed(12);
    for round in 0..200 {
        let count = rng.usize(0..6);
        let all: Vec<String> = (0..count).map(|index| format!("n{index}")).collect();
        let nodes =
            all.iter().map(|name| made_node(name, &json!({"team": "red", "reserve.x/y": "1"}))).collect();
        let pods = (0..rng.usize(0..8)).map(|index| {
            super::running(&format!("r{index}"), "3", &format!("n{}", rng.usize(0..6)), rng.i32(-5..5))
        });
        let pods = pods.collect();
        let mut state = listed(nodes, pods);
        for asked in 0..rng.usize(1..5) {
            let mut subset: Vec<&str> = all.iter().map(String::as_str).filter(|_| rng.bool()).collect();
            rng.shuffle(&mut subset);
            subset.extend(["unknown"].iter().filter(|_| rng.bool()));
            let mut json = json_pod(&format!("p{asked}"), &format!("{}m", rng.u32(0..9000)));
            json["spec"]["priority"] = json!(rng.i32(-10..10));
            let pod = common::api::pod::pod(&json.to_string()).unwrap();
            assert_eq!(refused(&mut state, &pod, &subset), [], "round {round}");
            let question = Question::Prioritize { pod: Arc::new(pod), nodes: names(&subset) };
            let Reply::Prioritized(scores) = super::ask(&mut state, question) else { panic!("scores") };
            let scored: Vec<NodeName> = scores.iter().map(|(node, _)| node.clone()).collect();
            assert_eq!(scored, names(&subset));
            assert!(scores.iter().all(|(_, score)| *score == 0));
        }
    }
}

#[test]
fn strangers_that_were_let_through_never_add_up_to_more_than_is_free() {
    let mut rng = fastrand::Rng::with_seed(7);
    for _ in 0..100 {
        let kept = rng.u32(1..4);
        let mut state = listed(vec![made_node("n1", &reserved(&kept.to_string(), "old", 0))], vec![]);
        let mut free = i64::from(4 - kept) * 1000;
        for index in 0..20 {
            let asks = rng.i64(1..1500);
            let pod = stranger(&format!("p{index}"), &format!("{asks}m"));
            if refused(&mut state, &pod, &["n1"]).is_empty() {
                free -= asks;
            }
            assert!(free >= 0);
        }
    }
}
