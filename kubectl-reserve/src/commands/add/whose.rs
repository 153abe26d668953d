//! For whom room is reserved: the owner of a pod, a workload, or a bare UID.

use crate::cli::Add;
use crate::commands::Context;
use crate::connect::is_name;
use crate::error::Failure;
use crate::names::{self, Asked, Kind, Target};
use crate::reservations::{top_of, top_of_pod};
use common::model::owner::Owner;
use common::model::{Pod, Uid};

/// Whom it is for.
pub(super) struct Whose {
    pub(super) owner: Owner,
    /// The pod whose place is kept, with `--pod`.
    replaced: Option<Box<Pod>>,
    /// Pods that the owner has.
    pods: Vec<Pod>,
    /// Whether only a UID is known.
    pub(super) is_bare_uid: bool,
}

/// Finds whom it is for.
pub(super) async fn find(args: &Add, context: &Context) -> Result<Whose, Failure> {
    match (&args.pod, &args.owner) {
        (Some(pod), _) => of_pod(pod, context).await,
        (None, Some(word)) => match uid(word, args)? {
            Some(owner) => Ok(Whose { owner, replaced: None, pods: Vec::new(), is_bare_uid: true }),
            None => of(word, context).await,
        },
        (None, None) => Err(Failure::usage("for whom? pass --for TYPE/NAME, or --pod NAME")),
    }
}

/// The pod whose place is kept.
async fn of_pod(word: &str, context: &Context) -> Result<Whose, Failure> {
    let asked = one(word)?;
    let asked = Asked { kind: asked.kind.or(Some(Kind::Pod)), ..asked };
    if asked.kind != Some(Kind::Pod) {
        return Err(Failure::usage(format!("--pod {word:?} is no pod; --for takes workloads, with --node")));
    }
    let session = &context.session;
    let Target::Pod(found) = names::find(session, &session.namespace, &asked).await? else {
        return Err(Failure::usage(format!("--pod {word:?} is no pod")));
    };
    let pod = found.pod;
    if !pod.is_counted() {
        let (why, name) = (if pod.node.is_none() { "is on no node" } else { "has ended" }, &pod.key.name);
        return Err(Failure::new(format!("pod {} {why}: there is no room of it to keep", pod.key))
            .hint(format!("kubectl reserve explain {name} -n {}", pod.key.namespace)));
    }
    let owner = top_of_pod(session, &pod).await?;
    Ok(Whose { owner, replaced: Some(Box::new(pod)), pods: Vec::new(), is_bare_uid: false })
}

/// A workload, or a pod that is to come.
async fn of(word: &str, context: &Context) -> Result<Whose, Failure> {
    let session = &context.session;
    let asked = one(word)?;
    let (owner, pods) = match names::find(session, &session.namespace, &asked).await? {
        Target::Pod(found) => (top_of_pod(session, &found.pod).await?, vec![found.pod]),
        Target::Workload(workload, pods) => {
            (top_of(session, *workload).await?, pods.into_iter().map(|found| found.pod).collect())
        }
    };
    Ok(Whose { owner, replaced: None, pods, is_bare_uid: false })
}

fn one(word: &str) -> Result<Asked, Failure> {
    let mut asked = names::asked(&[word.to_owned()])?;
    asked.pop().ok_or_else(|| Failure::usage("nothing was named"))
}

/// An owner of whom only the UID is known, which will do for the plain form.
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

impl Whose {
    /// The pod whose place is kept.
    pub(super) fn replaced(&self) -> Option<&Pod> {
        self.replaced.as_deref()
    }

    /// The node: the pod's, or the one that was named.
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

    /// The priority of the owner's pods: the lowest, so that nothing is kept from a pod that outranks one of them.
    pub(super) fn priority(&self) -> i32 {
        self.pods.iter().map(|pod| pod.spec.priority).min().unwrap_or(0)
    }

    /// The scheduler of the owner's pods, if that is known.
    pub(super) fn scheduler(&self) -> Option<&str> {
        let mut pods = self.replaced().into_iter().chain(&self.pods);
        pods.next().map(|pod| &*pod.spec.scheduler_name)
    }
}
