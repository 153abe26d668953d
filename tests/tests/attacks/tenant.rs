//! A tenant with the built-in role `edit` in its own namespace and nothing else: what it makes, it makes itself.

use anyhow::{Context as _, Result};
use kube::api::{Api, PostParams};
use kube::core::NamespaceResourceScope;
use kube::{Client, Resource};
use reserve_tests::control_plane::{User, Workload};
use reserve_tests::shared_cluster::TestNamespace;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub(crate) struct Tenant {
    ns: TestNamespace,
    client: Client,
}

impl Tenant {
    /// The tenant of this namespace's namespace.
    pub(crate) async fn of(ns: TestNamespace) -> Result<Self> {
        ns.cluster.let_tenant_edit(ns.name).await?;
        Ok(Self { ns, client: ns.cluster.client(User::Tenant)? })
    }

    /// Makes an object. It itself, or its pods, have its name as the label `app`.
    pub(crate) async fn create<K>(&self, object: Value) -> Result<Workload>
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
        K: Clone + std::fmt::Debug + Serialize + DeserializeOwned,
    {
        let api: Api<K> = Api::namespaced(self.client.clone(), self.ns.name);
        let created = api.create(&PostParams::default(), &serde_json::from_value(object)?).await?;
        let name = created.meta().name.clone().context("no name")?;
        let uid = created.meta().uid.clone().context("no UID")?;
        Ok(Workload { namespace: self.ns.name.to_owned(), selector: format!("app={name}"), name, uid })
    }
}
