//! What a credential plugin gave, asked for once and again when its time is over. kube's own way asks three times at the
//! start, and a person would be asked three times.

use super::exec::{self, Given};
use crate::error::Failure;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;
use jiff::{SignedDuration, Timestamp};
use kube::config::{AuthInfo, Cluster, ExecConfig};
use tokio::sync::Mutex;

/// How long before its end a token is replaced: a request takes a while to arrive.
const EARLY: SignedDuration = SignedDuration::from_secs(10);

pub(super) struct Credential {
    plugin: ExecConfig,
    cluster: Cluster,
    held: Mutex<Held>,
}

/// The token, and when it is no longer good.
struct Held {
    header: Option<HeaderValue>,
    expires: Option<Timestamp>,
}

impl Credential {
    /// Asks the plugin. A certificate becomes the user's own.
    pub(super) async fn ask(
        plugin: ExecConfig,
        cluster: &Cluster,
        user: &mut AuthInfo,
    ) -> Result<Self, Failure> {
        let cluster = cluster.clone();
        let given = ask(&plugin, &cluster).await?;
        if let Some((certificate, key)) = &given.identity {
            user.client_certificate_data = Some(STANDARD.encode(certificate));
            user.client_key_data = Some(STANDARD.encode(key).into());
            (user.client_certificate, user.client_key) = (None, None);
        }
        let held = Mutex::new(Held::new(&given)?);
        Ok(Self { plugin, cluster, held })
    }

    /// The Authorization header, if a token was given. Asks again if its time is over.
    pub(super) async fn header(&self) -> Result<Option<HeaderValue>, Failure> {
        let mut held = self.held.lock().await;
        if held.header.is_some() && held.expires.is_some_and(|expires| local_time() + EARLY >= expires) {
            *held = Held::new(&ask(&self.plugin, &self.cluster).await?)?;
        }
        Ok(held.header.clone())
    }
}

impl Held {
    fn new(given: &Given) -> Result<Self, Failure> {
        let header = given.token.as_ref().map(|token| {
            let mut header = HeaderValue::try_from(format!("Bearer {token}"))
                .map_err(|_| Failure::new("the credential plugin gave a token that cannot be sent"))?;
            header.set_sensitive(true);
            Ok(header)
        });
        Ok(Self { header: header.transpose()?, expires: given.expires })
    }
}

async fn ask(plugin: &ExecConfig, cluster: &Cluster) -> Result<Given, Failure> {
    let (plugin, cluster) = (plugin.clone(), cluster.clone());
    let asked = tokio::task::spawn_blocking(move || exec::run(&plugin, &cluster)).await;
    asked.map_err(|error| Failure::new(format!("credential plugin: {error}")))?
}

/// Tokens end by the clock of whoever gave them; this machine's is the nearest there is.
#[expect(clippy::disallowed_methods, reason = "the command is the outermost layer")]
fn local_time() -> Timestamp {
    Timestamp::now()
}
