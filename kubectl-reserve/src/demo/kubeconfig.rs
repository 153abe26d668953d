//! The kubeconfig file of a sandbox. It is never written over a file of somebody else, and it is removed when the sandbox ends.

use crate::error::Failure;
use crate::platform::create_private;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The first line of a file that a sandbox wrote.
const MARK: &str = "# Written by kubectl reserve sandbox, which removes it when it ends.";

/// The name of the cluster, context and user in the file.
const NAME: &str = "reserve-sandbox";

/// The start of the line with the sandbox's address.
const SERVER: &str = "server: http://127.0.0.1:";

/// The timeout for the check whether another sandbox still runs on this machine.
const ANSWER_MAX: Duration = Duration::from_millis(500);

/// A kubeconfig file, which is removed when this value is dropped.
#[derive(Debug)]
pub(crate) struct Kubeconfig {
    pub(crate) path: PathBuf,
    text: String,
}

enum ExistingFile {
    Nothing,
    /// It is of a sandbox that ended without removing it.
    Stale,
    /// It is of a sandbox that is running.
    InUse,
    /// No sandbox wrote it.
    Foreign,
}

impl Kubeconfig {
    /// Writes the kubeconfig of the sandbox at `port` to `path`, or else to a file in the cache folder.
    pub(crate) fn write(path: Option<&Path>, port: u16) -> Result<Self, Failure> {
        if let Some(path) = path {
            return Self::at(path.to_owned(), port);
        }
        let hint = "say where with --kubeconfig-out FILE";
        let cache = dirs::cache_dir().ok_or_else(|| Failure::new("you have no cache folder").hint(hint))?;
        let folder = cache.join("kubectl-reserve");
        std::fs::create_dir_all(&folder)
            .map_err(|error| Failure::new(format!("{}: {error}", folder.display())).hint(hint))?;
        // The same name each time, unless another sandbox uses it.
        let usual = folder.join("sandbox.kubeconfig");
        match existing_file(&usual, port)? {
            ExistingFile::Nothing | ExistingFile::Stale => Self::at(usual, port),
            ExistingFile::InUse | ExistingFile::Foreign => {
                Self::at(folder.join(format!("sandbox-{port}.kubeconfig")), port)
            }
        }
    }

    fn at(path: PathBuf, port: u16) -> Result<Self, Failure> {
        let shown = path.display();
        let failed = |error: std::io::Error| Failure::new(format!("write {shown}: {error}"));
        match existing_file(&path, port)? {
            ExistingFile::Nothing => {}
            ExistingFile::Stale => std::fs::remove_file(&path).map_err(failed)?,
            ExistingFile::InUse => return Err(refusal(&path, "belongs to a sandbox that is running")),
            ExistingFile::Foreign => return Err(refusal(&path, "is there already, and no sandbox wrote it")),
        }
        let text = text(port);
        create_private(&path, &text).map_err(failed)?;
        Ok(Self { path, text })
    }
}

/// Removes the file, unless its content was changed meanwhile.
impl Drop for Kubeconfig {
    fn drop(&mut self) {
        if std::fs::read_to_string(&self.path).is_ok_and(|text| text == self.text) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn refusal(path: &Path, why: &str) -> Failure {
    Failure::usage(format!("{} {why}", path.display())).hint("choose another file with --kubeconfig-out")
}

/// Which file exists at `path`. `port` is our own, so a file with this port is of a sandbox that has ended.
fn existing_file(path: &Path, port: u16) -> Result<ExistingFile, Failure> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(ExistingFile::Nothing),
        Err(error) if error.kind() == ErrorKind::InvalidData => return Ok(ExistingFile::Foreign),
        Err(error) => return Err(Failure::new(format!("read {}: {error}", path.display()))),
    };
    if !text.starts_with(MARK) {
        return Ok(ExistingFile::Foreign);
    }
    let named =
        text.lines().find_map(|line| line.trim().strip_prefix(SERVER)).and_then(|port| port.parse().ok());
    let answers = |other: u16| {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, other));
        other != port && TcpStream::connect_timeout(&address, ANSWER_MAX).is_ok()
    };
    Ok(if named.is_some_and(answers) { ExistingFile::InUse } else { ExistingFile::Stale })
}

fn text(port: u16) -> String {
    format!(
        "{MARK}
apiVersion: v1
kind: Config
current-context: {NAME}
clusters:
- name: {NAME}
  cluster:
    {SERVER}{port}
contexts:
- name: {NAME}
  context:
    cluster: {NAME}
    user: {NAME}
users:
- name: {NAME}
  user: {{}}
"
    )
}

#[cfg(test)]
mod tests {
    use super::{Kubeconfig, MARK};
    use crate::error::Exit;
    use std::net::TcpListener;
    use std::path::Path;

    fn write(path: &Path, port: u16) -> Result<Kubeconfig, crate::error::Failure> {
        Kubeconfig::write(Some(path), port)
    }

    #[test]
    fn it_goes_with_the_sandbox_unless_it_was_changed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("k");
        let written = write(&path, 1).unwrap();
        assert!(std::fs::read_to_string(&path).unwrap().starts_with(MARK));
        drop(written);
        assert!(!path.exists());
        let written = write(&path, 1).unwrap();
        std::fs::write(&path, "mine").unwrap();
        drop(written);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
    }

    #[test]
    fn what_others_wrote_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("k");
        std::fs::write(&path, "apiVersion: v1\n").unwrap();
        let refused = write(&path, 1).unwrap_err();
        assert_eq!(refused.exit, Exit::Usage);
        assert!(refused.message.unwrap().ends_with("is there already, and no sandbox wrote it"));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "apiVersion: v1\n");
    }

    #[test]
    fn that_of_a_running_sandbox_stays_and_that_of_a_dead_one_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("k");
        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = other.local_addr().unwrap().port();
        std::mem::forget(write(&path, port).unwrap());
        let refused = write(&path, 1).unwrap_err();
        assert!(refused.message.unwrap().ends_with("belongs to a sandbox that is running"));
        drop(other);
        write(&path, 1).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_can_read_it() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let written = write(&dir.path().join("k"), 1).unwrap();
        assert_eq!(std::fs::metadata(&written.path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
