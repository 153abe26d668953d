//! The recipient of a reservation: the owner of a pod, a workload, or an owner of which only the UID is known.

use crate::cli::Add;
use crate::commands::Context;
use crate::connect::is_name;
use crate::error::Failure;
use crate::names::{self, ObjectArg, ObjectKind, PodOrWorkload};
use crate::reservations::{top_of, top_of_pod};
use common::model::{Owner, Pod, Uid};

/// The owner that room is reserved for.
pub(super) struct Recipient {
    pub(super) owner: Owner,
    /// The pod whose room is kept, with `--pod`.
    replaced: Option<Box<Pod>>,
    pods: Vec<Pod>,
    /// Whether only a UID is known.
    pub(super) is_bare_uid: bool,
}

pub(super) async fn find(args: &Add, context: &Context) -> Result<Recipient, Failure> {
    match (&args.pod, &args.owner) {
        (Some(pod), _) => of_pod(pod, context).await,
        (None, Some(word)) => match uid(word, args)? {
            Some(owner) => Ok(Recipient { owner, replaced: None, pods: Vec::new(), is_bare_uid: true }),
            None => of_object(word, context).await,
        },
        (None, None) => Err(Failure::usage("for whom? pass --for TYPE/NAME, or --pod NAME")),
    }
}

/// The owner of the pod of `--pod`, whose room is kept.
async fn of_pod(word: &str, context: &Context) -> Result<Recipient, Failure> {
    let asked = parse_one(word)?;
    let asked = ObjectArg { kind: asked.kind.or(Some(ObjectKind::Pod)), ..asked };
    if asked.kind != Some(ObjectKind::Pod) {
        return Err(Failure::usage(format!("--pod {word:?} is no pod; --for takes workloads, with --node")));
    }
    let session = &context.session;
    let PodOrWorkload::Pod(found) = names::find(session, &session.namespace, &asked).await? else {
        return Err(Failure::usage(format!("--pod {word:?} is no pod")));
    };
    let pod = found.pod;
    if !pod.is_counted() {
        let (why, name) = (if pod.node.is_none() { "is on no node" } else { "has ended" }, &pod.key.name);
        return Err(Failure::new(format!("pod {} {why}: there is no room of it to keep", pod.key))
            .hint(format!("kubectl reserve explain {name} -n {}", pod.key.namespace)));
    }
    let owner = top_of_pod(session, &pod).await?;
    Ok(Recipient { owner, replaced: Some(Box::new(pod)), pods: Vec::new(), is_bare_uid: false })
}

/// The owner of the workload or pod of `--for`.
async fn of_object(word: &str, context: &Context) -> Result<Recipient, Failure> {
    let session = &context.session;
    let asked = parse_one(word)?;
    let (owner, pods) = match names::find(session, &session.namespace, &asked).await? {
        PodOrWorkload::Pod(found) => (top_of_pod(session, &found.pod).await?, vec![found.pod]),
        PodOrWorkload::Workload(workload, pods) => {
            (top_of(session, *workload).await?, pods.into_iter().map(|found| found.pod).collect())
        }
    };
    Ok(Recipient { owner, replaced: None, pods, is_bare_uid: false })
}

fn parse_one(word: &str) -> Result<ObjectArg, Failure> {
    let mut asked = names::parse_args(&[word.to_owned()])?;
    asked.pop().ok_or_else(|| Failure::usage("nothing was named"))
}

/// An owner of which only the UID is known; that is enough for the plain form.
fn uid(word: &str, args: &Add) -> Result<Option<Owner>, Failure> {
    let uid = Uid::from(word);
    if !uid.is_canonical() {
        return Ok(None);
    }
    if !args.plain {
        return Err(Failure::usage(format!("--for {word}: a UID alone will do only with --plain"))
            .hint("name the owner: --for TYPE/NAME"));
    }
    Ok(Some(Owner { kind: "".into(), namespace: "".into(), name: "".into(), uid }))
}

impl Recipient {
    /// The pod whose room is kept.
    pub(super) fn replaced(&self) -> Option<&Pod> {
        self.replaced.as_deref()
    }

    /// The node: that of the pod, else that of `--node`.
    pub(super) fn node(&self, args: &Add) -> Result<String, Failure> {
        let of_pod = self.replaced().and_then(|pod| pod.node.as_ref()).map(ToString::to_string);
        let node = of_pod.or_else(|| args.node.clone());
        match node {
            Some(node) if is_name(&node) => Ok(node),
            Some(node) => Err(Failure::usage(format!("--node {node:?} is not the name of a node"))),
            None => Err(Failure::usage("on which node? pass --node NAME")
                .hint("kubectl reserve nodes --free shows where there is room")),
        }
    }

    /// The lowest priority of the owner's pods: the reservation yields to every pod with a higher priority.
    pub(super) fn priority(&self) -> i32 {
        self.pods.iter().map(|pod| pod.spec.priority).min().unwrap_or(0)
    }

    /// The scheduler of the owner's pods, if it is known.
    pub(super) fn scheduler(&self) -> Option<&str> {
        let mut pods = self.replaced().into_iter().chain(&self.pods);
        pods.next().map(|pod| &*pod.spec.scheduler_name)
    }
}
