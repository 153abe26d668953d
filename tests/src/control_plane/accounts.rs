//! Service accounts: [`Cluster::account_of`] gets the token that a pod would have, [`Cluster::client_of`] uses it.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use k8s_openapi::api::authentication::v1::{BoundObjectReference, TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::{Pod, ServiceAccount};
use kube::api::PostParams;
use kube::{Api, Client};

use super::cluster::Cluster;

/// The ServiceAccount of a pod, with a token bound to this pod.
#[derive(Clone, Debug)]
pub struct Account {
    /// The user that the API server knows: `system:serviceaccount:<namespace>:<name>`.
    pub user: String,
    /// The pod's name, which its token carries.
    pub pod: String,
    token: String,
}

impl Cluster {
    /// The ServiceAccount of a pod, with a token that is bound to the pod as a kubelet would get it.
    ///
    /// # Errors
    /// When the API server refuses the token.
    pub async fn account_of(&self, pod: &Pod) -> Result<Account> {
        let name =
            pod.spec.as_ref().and_then(|spec| spec.service_account_name.clone()).context("no account")?;
        let namespace = pod.metadata.namespace.clone().context("no namespace")?;
        let bound = BoundObjectReference {
            api_version: Some("v1".to_owned()),
            kind: Some("Pod".to_owned()),
            name: pod.metadata.name.clone(),
            uid: pod.metadata.uid.clone(),
        };
        let spec = TokenRequestSpec { bound_object_ref: Some(bound), ..TokenRequestSpec::default() };
        let request = TokenRequest { spec: Some(spec), ..TokenRequest::default() };
        let accounts: Api<ServiceAccount> = Api::namespaced(self.admin(), &namespace);
        let answer = accounts.create_token_request(&name, &PostParams::default(), &request).await;
        let token =
            answer.context("ask for a token")?.status.and_then(|status| status.token).context("no token")?;
        let user = format!("system:serviceaccount:{namespace}:{name}");
        Ok(Account { user, pod: pod.metadata.name.clone().unwrap_or_default(), token })
    }

    /// A client that acts as the pod of `account`.
    ///
    /// # Errors
    /// When the client cannot be made.
    pub fn client_of(&self, account: &Account) -> Result<Client> {
        self.credentials.client_with(&account.token, &account.pod)
    }

    /// A kubeconfig file for the pod of `account`.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn kubeconfig_of(&self, account: &Account) -> Result<PathBuf> {
        let file = self.dir().join(format!("{}.kubeconfig", account.pod));
        let text = self.credentials.kubeconfig_text(&account.pod, &account.token);
        fs::write(&file, text).context("write a kubeconfig")?;
        Ok(file)
    }
}
