//! Records every version of every node and pod by watches ([`Recorder::start`]), for the rules of [`crate::history`].

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

use crate::history::{Version, VersionedObject};

/// The pause after a failed list: the API server may be restarting.
const RETRY: Duration = Duration::from_millis(100);
/// A bit less than the longest watch that the API server allows.
const WATCH_SECONDS: u32 = 290;

/// A recording. Dropping this value ends it.
#[derive(Debug)]
pub(super) struct Recorder {
    state: Arc<Mutex<RecorderState>>,
    tasks: Vec<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct RecorderState {
    versions: Vec<Version>,
    /// The newest revision of each kind.
    newest: BTreeMap<&'static str, u64>,
    /// The first object that could not be decoded.
    problem: Option<String>,
}

/// Records one kind.
struct KindRecorder {
    api: Api<DynamicObject>,
    kind: &'static str,
    /// The current JSON of each object, by UID.
    objects: BTreeMap<String, Value>,
    /// The newest revision.
    revision: u64,
    state: Arc<Mutex<RecorderState>>,
}

impl Recorder {
    /// Lists all objects, and starts the watches.
    #[expect(clippy::disallowed_methods, reason = "a task of the harness, which ends with its owner")]
    pub(super) async fn start(client: &Client) -> Result<Self> {
        let state = Arc::default();
        let mut tasks = vec![];
        for kind in ["pods", "nodes"] {
            let of = match kind {
                "pods" => ApiResource::erase::<k8s_openapi::api::core::v1::Pod>(&()),
                _ => ApiResource::erase::<k8s_openapi::api::core::v1::Node>(&()),
            };
            let api = Api::all_with(client.clone(), &of);
            let mut recorder =
                KindRecorder { api, kind, objects: BTreeMap::new(), revision: 0, state: Arc::clone(&state) };
            recorder.list().await?;
            tasks.push(tokio::spawn(recorder.run()));
        }
        Ok(Self { state, tasks })
    }

    /// The newest recorded revision of a kind.
    pub(super) fn newest(&self, kind: &str) -> u64 {
        lock(&self.state).newest.get(kind).copied().unwrap_or(0)
    }

    /// All versions so far.
    pub(super) fn versions(&self) -> Result<Vec<Version>> {
        let state = lock(&self.state);
        anyhow::ensure!(state.problem.is_none(), "{:?}", state.problem);
        Ok(state.versions.clone())
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

impl KindRecorder {
    async fn run(mut self) {
        loop {
            // After a watch has ended, the next one continues at the last revision; if that fails, everything is listed again.
            if self.watch().await.is_err() && self.list().await.is_err() {
                tokio::time::sleep(RETRY).await;
            }
        }
    }

    /// Lists all objects, and records the differences from what the watch has delivered.
    async fn list(&mut self) -> Result<()> {
        let listed = self.api.list(&ListParams::default()).await?;
        let revision = listed.metadata.resource_version.unwrap_or_default();
        let mut gone = std::mem::take(&mut self.objects);
        for object in listed.items {
            let known = gone.remove(object.metadata.uid.as_deref().unwrap_or_default());
            let same =
                known.as_ref().is_some_and(|known| version_of(known) == object.metadata.resource_version);
            if same {
                self.objects.extend(object.metadata.uid.clone().zip(known));
            } else {
                self.record(object, false)?;
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
                WatchEvent::Added(object) | WatchEvent::Modified(object) => self.record(object, false)?,
                WatchEvent::Deleted(object) => self.record(object, true)?,
                WatchEvent::Bookmark(_) => {}
                WatchEvent::Error(status) => anyhow::bail!("{}", status.message),
            }
        }
        Ok(())
    }

    fn record(&mut self, mut object: DynamicObject, is_gone: bool) -> Result<()> {
        object.meta_mut().managed_fields = None;
        let object = serde_json::to_value(&object).context("write an object down")?;
        self.note(&object, is_gone)
    }

    fn note(&mut self, object: &Value, is_gone: bool) -> Result<()> {
        let noted = version(self.kind, object, is_gone);
        let mut state = lock(&self.state);
        match noted {
            Ok(version) => {
                self.revision = version.revision.max(self.revision);
                state.newest.insert(self.kind, self.revision);
                state.versions.push(version);
            }
            // Rules cannot be checked on an incomplete history.
            Err(error) => drop(state.problem.get_or_insert(format!("{error:#}: {object}"))),
        }
        let uid = object["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
        if is_gone {
            self.objects.remove(&uid);
        } else {
            self.objects.insert(uid, object.clone());
        }
        Ok(())
    }
}

#[expect(clippy::disallowed_methods, reason = "the harness is the outermost layer of a test")]
fn version(kind: &str, object: &Value, is_gone: bool) -> Result<Version> {
    let revision = version_of(object).unwrap_or_default().parse().context("read a resourceVersion")?;
    let json = object.to_string();
    let versioned = if kind == "pods" {
        let pod = Arc::new(common::api::pod::pod(&json)?);
        if is_gone { VersionedObject::PodGone(pod) } else { VersionedObject::Pod(pod) }
    } else {
        let node = Arc::new(common::api::node::node(&json)?);
        if is_gone {
            VersionedObject::NodeGone(node)
        } else {
            VersionedObject::Node(node, Arc::new(object.clone()))
        }
    };
    Ok(Version { revision, at: Timestamp::now(), object: versioned })
}

fn version_of(object: &Value) -> Option<String> {
    Some(object["metadata"]["resourceVersion"].as_str()?.to_owned())
}

fn lock(state: &Mutex<RecorderState>) -> std::sync::MutexGuard<'_, RecorderState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
