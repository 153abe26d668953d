//! A tenant with the built-in role `edit` in its own namespace and nothing else: what it makes, it makes itself.

use anyhow::{Context as _, Result};
use kube::api::{Api, PostParams};
use kube::core::NamespaceResourceScope;
use kube::{Client, Resource};
use reserve_tests::control_plane::{User, Workload};
use reserve_tests::town::Plot;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub(crate) struct Tenant {
    plot: Plot,
    client: Client,
}

impl Tenant {
    /// The tenant of this plot's namespace.
    pub(crate) async fn of(plot: Plot) -> Result<Self> {
        plot.cluster.let_tenant_edit(plot.name).await?;
        Ok(Self { plot, client: plot.cluster.client(User::Tenant)? })
    }

    /// Makes an object. It itself, or its pods, have its name as the label `app`.
    pub(crate) async fn create<K>(&self, object: Value) -> Result<Workload>
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
        K: Clone + std::fmt::Debug + Serialize + DeserializeOwned,
    {
        let api: Api<K> = Api::namespaced(self.client.clone(), self.plot.name);
        let created = api.create(&PostParams::default(), &serde_json::from_value(object)?).await?;
        let name = created.meta().name.clone().context("no name")?;
        let uid = created.meta().uid.clone().context("no UID")?;
        Ok(Workload { namespace: self.plot.name.to_owned(), selector: format!("app={name}"), name, uid })
    }
}
