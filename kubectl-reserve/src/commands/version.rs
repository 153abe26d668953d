//! `kubectl reserve version`: the version of this command, and of the daemon's replicas.

use crate::cli::{Connection, Print, Version};
use crate::connect::connect;
use crate::error::{Failure, forbidden};
use crate::print::{Printable, print};
use crate::render::json::API_VERSION;
use crate::replicas;
use common::model::replica::Replica;
use serde_json::{Value, json};

/// The versions that are printed.
struct Versions {
    client: String,
    /// The commit that this command is built from, and its date; `None` in a build for development.
    commit: Option<(&'static str, &'static str)>,
    /// `None` with `--client`, or if the server did not answer.
    daemons: Option<Vec<Daemon>>,
}

struct Daemon {
    name: String,
    namespace: String,
    version: String,
    live: bool,
}

pub(crate) async fn run(args: &Version, connection: &Connection, verbosity: u8) -> Result<(), Failure> {
    let flags = Print { output: args.output.clone(), ..Print::default() };
    let client = format!("v{}", env!("CARGO_PKG_VERSION"));
    let commit = (env!("RESERVE_COMMIT"), env!("RESERVE_COMMIT_DATE"));
    let commit = Some(commit).filter(|(commit, date)| !commit.is_empty() && !date.is_empty());
    let mut versions = Versions { client, commit, daemons: None };
    // As kubectl: the client version is printed even if the server does not answer.
    let asked = if args.client { Ok(None) } else { daemons(connection, verbosity).await.map(Some) };
    let problem = match asked {
        Ok(daemons) => {
            versions.daemons = daemons;
            None
        }
        Err(failure) => Some(failure),
    };
    print(&flags, &versions)?;
    problem.map_or(Ok(()), Err)
}

async fn daemons(connection: &Connection, verbosity: u8) -> Result<Vec<Daemon>, Failure> {
    let session = connect(connection, verbosity).await?;
    let right = replicas::right(&session.daemon);
    let replicas = replicas::read(&session).await;
    let replicas = replicas.map_err(|error| error.into_failure("list leases", &right))?;
    if replicas.is_hidden {
        return Err(forbidden("see which replicas run", &right));
    }
    let daemon = |replica: &Replica| Daemon {
        name: replica.name.to_string(),
        namespace: replica.meta.namespace.to_string(),
        version: format!("v{}", replica.version),
        live: replica.is_live(replicas.now),
    };
    Ok(replicas.all.iter().map(daemon).collect())
}

impl Printable for Versions {
    fn table(&self, _is_wide: bool, _has_headers: bool) -> String {
        let commit =
            self.commit.map_or_else(String::new, |(commit, date)| format!(" (commit {commit} of {date})"));
        let mut text = format!("Client Version: {}{commit}\n", self.client);
        match self.daemons.as_deref() {
            None => {}
            Some([]) => text += "Daemon Version: <none>\n",
            Some(daemons) => {
                for Daemon { name, version, live, .. } in daemons {
                    let state = if *live { "" } else { ", not heard of lately" };
                    text += &format!("Daemon Version: {version} ({name}{state})\n");
                }
            }
        }
        text
    }

    fn names(&self) -> Vec<String> {
        vec![self.client.clone()]
    }

    fn document(&self) -> Result<Value, Failure> {
        let daemon = |one: &Daemon| {
            let metadata = json!({ "name": one.name, "namespace": one.namespace });
            json!({ "metadata": metadata, "version": one.version, "live": one.live })
        };
        let platform = format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH);
        let mut document = json!({
            "apiVersion": API_VERSION,
            "kind": "Version",
            "clientVersion": { "version": self.client, "platform": platform },
        });
        if let Some((commit, date)) = self.commit {
            document["clientVersion"]["commit"] = json!(commit);
            document["clientVersion"]["commitDate"] = json!(date);
        }
        if let Some(daemons) = &self.daemons {
            document["daemonVersions"] = daemons.iter().map(daemon).collect();
        }
        Ok(document)
    }
}

#[cfg(test)]
mod tests {
    use super::{Daemon, Versions};
    use crate::print::{Printable, schema_check};

    fn versions(daemons: Option<Vec<Daemon>>) -> Versions {
        Versions { client: "v1.2.3".into(), commit: None, daemons }
    }

    fn daemon(name: &str, live: bool) -> Daemon {
        Daemon { name: name.into(), namespace: "reserve-system".into(), version: "v1.2.2".into(), live }
    }

    #[test]
    fn versions_are_told_as_kubectl_tells_them() {
        let all = versions(Some(vec![daemon("a-0", true), daemon("a-1", false)]));
        insta::assert_snapshot!(all.table(false, true), @r"
        Client Version: v1.2.3
        Daemon Version: v1.2.2 (a-0)
        Daemon Version: v1.2.2 (a-1, not heard of lately)
        ");
        schema_check::assert_valid(&all.document().unwrap());
        insta::assert_snapshot!(versions(Some(vec![])).table(false, true), @r"
        Client Version: v1.2.3
        Daemon Version: <none>
        ");
        let alone = versions(None);
        assert_eq!(alone.table(false, true), "Client Version: v1.2.3\n");
        schema_check::assert_valid(&alone.document().unwrap());
        let released = Versions { commit: Some(("0123456789ab", "2026-11-19")), ..versions(None) };
        assert_eq!(
            released.table(false, true),
            "Client Version: v1.2.3 (commit 0123456789ab of 2026-11-19)\n"
        );
        schema_check::assert_valid(&released.document().unwrap());
    }
}
