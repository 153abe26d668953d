//! The user name of the caller, by a SelfSubjectReview.

use crate::api::{JSON, write};
use crate::connect::Session;
use http::Method;
use serde::Deserialize;

const PATH: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

#[derive(Default, Deserialize)]
#[serde(default)]
struct ReviewWire {
    status: StatusWire,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct StatusWire {
    user_info: UserInfoWire,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct UserInfoWire {
    username: String,
}

/// The longest name that is written into a record: a record must be short.
const NAME_LEN_MAX: usize = 100;

/// The user name of the caller; the name of the program if the server does not say.
pub(crate) async fn whoami(session: &Session) -> String {
    let body = r#"{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}"#;
    let answer = write(session, Method::POST, PATH, JSON, body.into()).await;
    let review: ReviewWire =
        answer.ok().and_then(|answer| serde_json::from_str(&answer.text).ok()).unwrap_or_default();
    let name: String = review.status.user_info.username.chars().take(NAME_LEN_MAX).collect();
    if name.is_empty() { "kubectl-reserve".into() } else { name }
}
