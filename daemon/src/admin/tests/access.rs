//! Authentication and authorization: which client may read which page.

use super::{Authority, Script, allowed, no_token, token_of};
use serde_json::{Value, json};

const BEARER: &str = "Authorization: Bearer abc";

fn status(body: &str) -> Value {
    serde_json::from_str(body).unwrap()
}

#[tokio::test]
async fn probes_are_open_and_ask_nobody() {
    let server = Script::default().argument("--authentication-skip-lookup").start().await;
    assert_eq!(server.get("/livez", &[]).await, (200, "ok".to_owned()));
    assert_eq!(server.get("/healthz?verbose", &[]).await.0, 200);
    assert_eq!(server.get("/readyz", &[]).await.0, 500, "nothing was listed yet");
    server.health.synced(true);
    assert_eq!(server.get("/readyz", &[]).await, (200, "ok".to_owned()));
    assert!(server.authorizations.lock().unwrap().is_empty());
}

#[tokio::test]
async fn nobody_in_particular_is_asked_about_as_anonymous() {
    let authorization = vec![allowed(false)];
    let server =
        Script { authorization, ..Script::default() }.argument("--authentication-skip-lookup").start().await;
    let (code, body) = server.get("/metrics", &[]).await;
    assert_eq!(code, 403);
    let expected = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "forbidden: User \"system:anonymous\" cannot get path \"/metrics\"",
        "reason": "Forbidden", "details": {}, "code": 403,
    });
    assert_eq!(status(&body), expected);
}

#[tokio::test]
async fn a_good_token_with_the_right_sees_metrics_and_is_remembered() {
    let script = Script {
        authentication: vec![token_of("prometheus")],
        authorization: vec![allowed(true)],
        ..Script::default()
    };
    let server = script.argument("--authentication-skip-lookup").start().await;
    for _ in 0..3 {
        let (code, body) = server.get("/metrics", &[BEARER]).await;
        assert_eq!(code, 200);
        assert!(body.contains("# TYPE reserve_is_leader gauge"), "{body}");
    }
    assert_eq!(server.authentications.lock().unwrap().len(), 1, "asked once in ten seconds");
    assert_eq!(server.authorizations.lock().unwrap().len(), 1);
}

fn pods(names: &[&str], next: &str) -> (u16, String) {
    let pod = |name: &&str| {
        let containers = json!([{"resources": {"requests": {"cpu": "1"}}}]);
        json!({"metadata": {"namespace": "d", "name": name}, "spec": {"containers": containers}})
    };
    let items: Vec<Value> = names.iter().map(pod).collect();
    (200, json!({"metadata": {"continue": next}, "items": items}).to_string())
}

#[tokio::test]
async fn what_pods_ask_for_is_read_page_by_page() {
    let authorization = vec![allowed(true)];
    let broken = (500, r#"{"kind":"Status","code":500,"message":"no"}"#.to_owned());
    let script = Script {
        authorization,
        pods: vec![pods(&["a", "b"], "more"), pods(&["c"], ""), broken],
        ..Script::default()
    };
    let server = script.argument("--authentication-skip-lookup").start().await;
    let (code, body) = server.get("/metrics/resources", &[]).await;
    assert_eq!(code, 200);
    for pod in ["a", "b", "c"] {
        let labels = format!(
            "{{namespace=\"d\",node=\"\",pod=\"{pod}\",priority=\"\",resource=\"cpu\",scheduler=\"\",unit=\"cores\"}}"
        );
        assert!(body.contains(&format!("kube_pod_resource_request{labels} 1\n")), "{body}");
    }
    assert!(server.pods.lock().unwrap()[1].to_string().contains("&continue=more"));
    let (code, body) = server.get("/metrics/resources", &[]).await;
    assert_eq!(code, 500, "half of it is not shown: {body}");
}

#[tokio::test]
async fn other_pages() {
    let authorization = vec![allowed(true), allowed(true), allowed(true)];
    let server =
        Script { authorization, ..Script::default() }.argument("--authentication-skip-lookup").start().await;
    let (code, body) = server.get("/configz", &[]).await;
    assert_eq!(
        (code, &status(&body)["componentconfig"]["kind"]),
        (200, &json!("KubeSchedulerConfiguration"))
    );
    let (code, body) = server.get("/version", &[]).await;
    assert_eq!((code, &status(&body)["major"]), (200, &json!("0")));
    assert_eq!(server.get("/debug/pprof/", &[]).await, (404, "404 page not found\n".to_owned()));
}

#[tokio::test]
async fn a_bad_token_is_refused_even_for_probes() {
    let server = Script { authentication: vec![no_token()], ..Script::default() }
        .argument("--authentication-skip-lookup")
        .start()
        .await;
    for path in ["/metrics", "/livez"] {
        let (code, body) = server.get(path, &[BEARER]).await;
        assert_eq!((code, &status(&body)["message"]), (401, &json!("Unauthorized")), "{path}");
    }
}

#[tokio::test]
async fn when_the_cluster_does_not_answer_nothing_is_shown() {
    let broken = || (500, "{}".to_owned());
    let script =
        Script { authentication: vec![broken()], authorization: vec![broken()], ..Script::default() };
    let server = script.argument("--authentication-skip-lookup").start().await;
    assert_eq!(server.get("/metrics", &[BEARER]).await.0, 401);
    assert_eq!(server.get("/metrics", &[]).await.0, 500);
}

#[tokio::test]
async fn client_certificates_count_by_who_signed_them() {
    let (ours, theirs) = (Authority::new(), Authority::new());
    let server = Script { authorization: vec![allowed(false)], ..Script::default() }
        .argument("--authentication-skip-lookup")
        .argument(&format!("--client-ca-file={}", ours.file()))
        .start()
        .await;
    let master = ours.sign("admin", "system:masters");
    assert_eq!(server.get_as(Some(&master), "/metrics", &[]).await.0, 200);
    assert!(server.authorizations.lock().unwrap().is_empty(), "masters may do everything");
    let (code, body) = server.get_as(Some(&ours.sign("jane", "users")), "/metrics", &[]).await;
    assert_eq!(code, 403);
    assert!(body.contains(r#"User \"jane\" cannot get"#), "{body}");
    let stranger = theirs.sign("admin", "system:masters");
    assert_eq!(server.get_as(Some(&stranger), "/metrics", &[]).await.0, 401);
}

#[tokio::test]
async fn a_proxy_that_is_known_speaks_for_others() {
    let (ours, clients) = (Authority::new(), Authority::new());
    let server = Script { authorization: vec![allowed(false)], ..Script::default() }
        .argument("--authentication-skip-lookup")
        .argument(&format!("--client-ca-file={}", clients.file()))
        .argument(&format!("--requestheader-client-ca-file={}", ours.file()))
        .argument("--requestheader-allowed-names=front-proxy")
        .start()
        .await;
    let headers = ["X-Remote-User: jane", "X-Remote-Group: users"];
    let masters = ["X-Remote-User: admin", "X-Remote-Group: system:masters"];
    let (code, body) = server.get_as(Some(&ours.sign("front-proxy", "")), "/metrics", &headers).await;
    assert!(code == 403 && body.contains("jane"), "{code} {body}");
    assert_eq!(server.get_as(Some(&ours.sign("front-proxy", "")), "/metrics", &masters).await.0, 200);
    assert_eq!(server.get_as(Some(&ours.sign("other", "")), "/metrics", &masters).await.0, 401);
    let client = clients.sign("jane", "users");
    assert_eq!(
        server.get_as(Some(&client), "/metrics", &masters).await.0,
        403,
        "headers of others mean nothing"
    );
}

#[tokio::test]
async fn authorities_are_read_from_the_cluster() {
    let ours = Authority::new();
    let data = json!({"data": {"client-ca-file": ours.issuer.pem(), "requestheader-allowed-names": "[]"}});
    let server = Script { authentication: vec![(200, data.to_string())], ..Script::default() }.start().await;
    let asked = server.authentications.lock().unwrap()[0].path().to_owned();
    assert_eq!(asked, "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication");
    let master = ours.sign("admin", "system:masters");
    assert_eq!(server.get_as(Some(&master), "/metrics", &[]).await.0, 200);
}

#[tokio::test]
async fn without_authorities_certificates_mean_nothing() {
    let refused = json!({"kind": "Status", "message": "no", "reason": "Forbidden", "code": 403});
    let script = Script {
        authentication: vec![(403, refused.to_string())],
        authorization: vec![allowed(false)],
        ..Script::default()
    };
    let server = script.start().await;
    let master = Authority::new().sign("admin", "system:masters");
    let (code, body) = server.get_as(Some(&master), "/metrics", &[]).await;
    assert!(code == 403 && body.contains("system:anonymous"), "{code} {body}");
}
