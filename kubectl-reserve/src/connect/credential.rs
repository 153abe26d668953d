//! The credential of an exec plugin. The plugin runs once at the start, and again when its token has expired. kube's own code runs
//! it three times at the start, so that a plugin that asks for a password would ask three times.

use super::exec::{self, ExecCredential};
use crate::clock::local_time;
use crate::error::Failure;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;
use jiff::{SignedDuration, Timestamp};
use kube::config::{AuthInfo, Cluster, ExecConfig};
use tokio::sync::Mutex;

/// How long before its expiry a token is replaced: a request takes some time to arrive.
const EARLY: SignedDuration = SignedDuration::from_secs(10);

pub(super) struct Credential {
    plugin: ExecConfig,
    cluster: Cluster,
    /// Whether the plugin may neither read the terminal nor print to it.
    is_silent: bool,
    token: Mutex<CachedToken>,
}

/// The Authorization header with the token, and when the token expires.
struct CachedToken {
    header: Option<HeaderValue>,
    expires: Option<Timestamp>,
}

impl Credential {
    /// Runs the plugin. A certificate that it returns is put into `user`.
    pub(super) async fn ask(
        plugin: ExecConfig,
        cluster: &Cluster,
        user: &mut AuthInfo,
        is_silent: bool,
    ) -> Result<Self, Failure> {
        let cluster = cluster.clone();
        let credential = ask(&plugin, &cluster, is_silent).await?;
        if let Some((certificate, key)) = &credential.identity {
            user.client_certificate_data = Some(STANDARD.encode(certificate));
            user.client_key_data = Some(STANDARD.encode(key).into());
            (user.client_certificate, user.client_key) = (None, None);
        }
        let token = Mutex::new(CachedToken::new(&credential)?);
        Ok(Self { plugin, cluster, is_silent, token })
    }

    /// The Authorization header, if the plugin returned a token. Runs the plugin again if the token has expired.
    pub(super) async fn header(&self) -> Result<Option<HeaderValue>, Failure> {
        let mut token = self.token.lock().await;
        if token.header.is_some() && token.expires.is_some_and(|expires| local_time() + EARLY >= expires) {
            *token = CachedToken::new(&ask(&self.plugin, &self.cluster, self.is_silent).await?)?;
        }
        Ok(token.header.clone())
    }
}

impl CachedToken {
    fn new(credential: &ExecCredential) -> Result<Self, Failure> {
        let header = credential.token.as_ref().map(|token| {
            let mut header = HeaderValue::try_from(format!("Bearer {token}"))
                .map_err(|_| Failure::new("the credential plugin gave a token that cannot be sent"))?;
            header.set_sensitive(true);
            Ok(header)
        });
        Ok(Self { header: header.transpose()?, expires: credential.expires })
    }
}

async fn ask(plugin: &ExecConfig, cluster: &Cluster, is_silent: bool) -> Result<ExecCredential, Failure> {
    let (plugin, cluster) = (plugin.clone(), cluster.clone());
    let asked = tokio::task::spawn_blocking(move || exec::run(&plugin, &cluster, is_silent)).await;
    asked.map_err(|error| Failure::new(format!("credential plugin: {error}")))?
}
