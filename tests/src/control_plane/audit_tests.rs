//! Tests of the audit log reader with lines as kube-apiserver writes them.

use std::io::Write as _;

use super::{Audit, Log};

/// One line of the log, with further fields in `rest`.
fn line(id: &str, stage: &str, rest: &str) -> String {
    format!(
        r#"{{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"RequestResponse","auditID":"{id}","stage":"{stage}",
        "requestURI":"/api/v1/nodes/n1?fieldManager=x","verb":"patch","user":{{"username":"admin","groups":["system:masters"]}},
        "objectRef":{{"resource":"nodes","name":"n1","apiVersion":"v1"}},{rest}
        "requestReceivedTimestamp":"2026-11-16T08:00:00.000001Z","stageTimestamp":"2026-11-16T08:00:00.002000Z"}}"#
    )
    .replace('\n', "")
}

const ANSWER: &str = r#""responseStatus":{"metadata":{},"code":200},"responseObject":{"metadata":{"name":"n1","resourceVersion":"7"}},"#;

async fn read(text: &str) -> anyhow::Result<Audit> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    Audit::read(file.path()).await
}

#[tokio::test]
async fn a_write_is_read_with_who_what_and_what_came_of_it() {
    let text = line("a", "RequestReceived", "") + "\n" + &line("a", "ResponseComplete", ANSWER) + "\n";
    let audit = read(&text).await.unwrap();
    let [write] = audit
        .clone()
        .by("admin")
        .to("nodes")
        .named("n1")
        .verb("patch")
        .stored()
        .writes()
        .to_vec()
        .try_into()
        .unwrap();
    assert_eq!(write.resource_version_after.as_deref(), Some("7"));
    assert_eq!(write.answered.duration_since(write.at).as_micros(), 1999);
    assert!(audit.clone().by("tenant").writes().is_empty());
    assert!(audit.clone().to("nodes/status").writes().is_empty());
    assert!(audit.since("2026-11-16T08:00:01Z".parse().unwrap()).writes().is_empty());
}

#[tokio::test]
async fn refusals_and_dry_runs_are_read_but_not_stored() {
    let refused = line("a", "ResponseComplete", r#""responseStatus":{"code":403},"#);
    let dry = line("b", "ResponseComplete", ANSWER).replace("fieldManager=x", "dryRun=All");
    let audit = read(&(refused + "\n" + &dry + "\n")).await.unwrap();
    assert_eq!(audit.writes().len(), 2);
    assert!(audit.stored().writes().is_empty());
}

#[tokio::test]
async fn a_bad_line_is_an_error_that_names_it() {
    let text = line("a", "ResponseComplete", ANSWER) + "\n{\"auditID\": 5}\n";
    let error = format!("{:#}", read(&text).await.unwrap_err());
    assert!(error.contains("line 2 is no audit event: {\"auditID\": 5}"), "{error}");
}

#[test]
fn a_request_counts_as_unanswered_until_its_answer_is_wholly_written() {
    let half = line("a", "RequestReceived", "") + "\n" + &line("a", "ResponseComplete", ANSWER);
    assert_eq!(Log::parse(&half).unwrap().unanswered().len(), 1);
    assert!(Log::parse(&(half + "\n")).unwrap().unanswered().is_empty());
    assert!(Log::parse("").unwrap().unanswered().is_empty());
}
