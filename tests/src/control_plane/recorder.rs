//! Writes down every version of every node and pod, from the moment it is started.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result};
use futures::TryStreamExt as _;
use jiff::Timestamp;
use kube::api::{Api, ApiResource, DynamicObject, ListParams, WatchEvent, WatchParams};
use kube::{Client, Resource as _};
use serde_json::Value;
use tokio::task::JoinHandle;

use crate::history::{Version, What};

/// The API server may be restarting.
const RETRY: Duration = Duration::from_millis(100);
/// The longest the API server lets a watch be.
const WATCH_SECONDS: u32 = 290;

/// A recording. It ends with this value.
#[derive(Debug)]
pub(super) struct Recorder {
    seen: Arc<Mutex<Seen>>,
    tasks: Vec<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Seen {
    versions: Vec<Version>,
    /// The newest revision of each kind.
    newest: BTreeMap<&'static str, u64>,
    /// What could not be written down.
    problem: Option<String>,
}

/// The recorder of one kind.
struct Reel {
    api: Api<DynamicObject>,
    kind: &'static str,
    /// The JSON of each object that is there, by UID, and the newest revision.
    there: BTreeMap<String, Value>,
    revision: u64,
    seen: Arc<Mutex<Seen>>,
}

impl Recorder {
    /// Starts with everything that is there now.
    #[expect(clippy::disallowed_methods, reason = "a task of the harness, which ends with its owner")]
    pub(super) async fn start(client: &Client) -> Result<Self> {
        let seen = Arc::default();
        let mut tasks = vec![];
        for kind in ["pods", "nodes"] {
            let of = match kind {
                "pods" => ApiResource::erase::<k8s_openapi::api::core::v1::Pod>(&()),
                _ => ApiResource::erase::<k8s_openapi::api::core::v1::Node>(&()),
            };
            let api = Api::all_with(client.clone(), &of);
            let mut reel = Reel { api, kind, there: BTreeMap::new(), revision: 0, seen: Arc::clone(&seen) };
            reel.list().await?;
            tasks.push(tokio::spawn(reel.run()));
        }
        Ok(Self { seen, tasks })
    }

    /// The newest revision of a kind that was written down.
    pub(super) fn newest(&self, kind: &str) -> u64 {
        lock(&self.seen).newest.get(kind).copied().unwrap_or(0)
    }

    /// Everything so far.
    pub(super) fn versions(&self) -> Result<Vec<Version>> {
        let seen = lock(&self.seen);
        anyhow::ensure!(seen.problem.is_none(), "{:?}", seen.problem);
        Ok(seen.versions.clone())
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

impl Reel {
    async fn run(mut self) {
        loop {
            // A watch that ends is taken up where it ended; if that is no longer possible, all is read again.
            if self.watch().await.is_err() && self.list().await.is_err() {
                tokio::time::sleep(RETRY).await;
            }
        }
    }

    /// Reads all; whatever differs from what was known happened unseen.
    async fn list(&mut self) -> Result<()> {
        let listed = self.api.list(&ListParams::default()).await?;
        let revision = listed.metadata.resource_version.unwrap_or_default();
        let mut gone = std::mem::take(&mut self.there);
        for object in listed.items {
            let known = gone.remove(object.metadata.uid.as_deref().unwrap_or_default());
            let same =
                known.as_ref().is_some_and(|known| version_of(known) == object.metadata.resource_version);
            if same {
                self.there.extend(object.metadata.uid.clone().zip(known));
            } else {
                self.write_down(object, false)?;
            }
        }
        let revision = revision.parse().context("read a resourceVersion")?;
        for (_, mut object) in gone {
            object["metadata"]["resourceVersion"] = Value::from(format!("{revision}"));
            self.note(&object, true)?;
        }
        self.revision = revision;
        Ok(())
    }

    async fn watch(&mut self) -> Result<()> {
        let parameters = WatchParams::default().timeout(WATCH_SECONDS).disable_bookmarks();
        let events = self.api.watch(&parameters, &self.revision.to_string()).await?;
        let mut events = std::pin::pin!(events);
        while let Some(event) = events.try_next().await? {
            match event {
                WatchEvent::Added(object) | WatchEvent::Modified(object) => self.write_down(object, false)?,
                WatchEvent::Deleted(object) => self.write_down(object, true)?,
                WatchEvent::Bookmark(_) => {}
                WatchEvent::Error(status) => anyhow::bail!("{}", status.message),
            }
        }
        Ok(())
    }

    fn write_down(&mut self, mut object: DynamicObject, is_gone: bool) -> Result<()> {
        object.meta_mut().managed_fields = None;
        let object = serde_json::to_value(&object).context("write an object down")?;
        self.note(&object, is_gone)
    }

    fn note(&mut self, object: &Value, is_gone: bool) -> Result<()> {
        let noted = version(self.kind, object, is_gone);
        let mut seen = lock(&self.seen);
        match noted {
            Ok(version) => {
                self.revision = version.revision.max(self.revision);
                seen.newest.insert(self.kind, self.revision);
                seen.versions.push(version);
            }
            // A history with a hole proves nothing.
            Err(error) => drop(seen.problem.get_or_insert(format!("{error:#}: {object}"))),
        }
        let uid = object["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
        if is_gone {
            self.there.remove(&uid);
        } else {
            self.there.insert(uid, object.clone());
        }
        Ok(())
    }
}

#[expect(clippy::disallowed_methods, reason = "the harness is the outermost layer of a test")]
fn version(kind: &str, object: &Value, is_gone: bool) -> Result<Version> {
    let revision = version_of(object).unwrap_or_default().parse().context("read a resourceVersion")?;
    let json = object.to_string();
    let what = if kind == "pods" {
        let pod = Arc::new(common::api::pod::pod(&json)?);
        if is_gone { What::PodGone(pod) } else { What::Pod(pod) }
    } else {
        let node = Arc::new(common::api::node::node(&json)?);
        if is_gone { What::NodeGone(node) } else { What::Node(node, Arc::new(object.clone())) }
    };
    Ok(Version { revision, at: Timestamp::now(), what })
}

fn version_of(object: &Value) -> Option<String> {
    Some(object["metadata"]["resourceVersion"].as_str()?.to_owned())
}

fn lock(seen: &Mutex<Seen>) -> std::sync::MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}
