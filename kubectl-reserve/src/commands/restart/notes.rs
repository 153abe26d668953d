//! A file on this machine for each restart that is not finished: when it began, and which pods were left.

use crate::ui::embedded::state_folder;
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The file for one workload.
pub(super) struct Note {
    path: Option<PathBuf>,
}

impl Note {
    pub(super) fn of(uid: &str) -> Self {
        Self::within(state_folder(), uid)
    }

    fn within(folder: Option<PathBuf>, uid: &str) -> Self {
        // The UID becomes part of a path.
        let is_plain = uid.chars().all(|character| character.is_ascii_alphanumeric() || character == '-');
        let path = folder.filter(|_| is_plain && !uid.is_empty());
        Self { path: path.map(|folder| folder.join("kubectl-reserve").join("restart").join(uid)) }
    }

    /// The time when the restart began, and the UIDs of the pods that were left then; `None` if no restart is unfinished.
    pub(super) fn read(&self) -> Option<(Timestamp, BTreeSet<String>)> {
        let text = std::fs::read_to_string(self.path.as_ref()?).ok()?;
        let mut lines = text.lines();
        let began = lines.next()?.parse().ok()?;
        Some((began, lines.map(str::to_owned).collect()))
    }

    /// Writes the note. Returns whether that succeeded.
    pub(super) fn write(&self, began: Timestamp, left: &BTreeSet<String>) -> bool {
        let Some(path) = &self.path else { return false };
        let lines = std::iter::once(began.to_string()).chain(left.iter().cloned());
        let text: String = lines.map(|line| line + "\n").collect();
        let folder = path.parent().map(std::fs::create_dir_all);
        folder.is_some_and(|made| made.is_ok()) && std::fs::write(path, text).is_ok()
    }

    /// Removes the note: the restart is finished.
    pub(super) fn remove(&self) {
        if let Some(path) = &self.path {
            // A note that cannot be removed does no harm: all of its pods have been recreated.
            let _ = std::fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Note;
    use std::collections::BTreeSet;

    #[test]
    fn a_note_is_read_back_until_it_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let note = Note::within(Some(folder.path().to_owned()), "11111111-0000-4000-8000-000000000001");
        assert_eq!(note.read(), None);
        let began = "2026-11-16T08:00:00Z".parse().unwrap();
        let left = ["a", "b"].map(str::to_owned).into();
        assert!(note.write(began, &left));
        assert_eq!(note.read(), Some((began, left)));
        note.remove();
        assert_eq!(note.read(), None);
    }

    #[test]
    fn an_odd_uid_is_no_path() {
        let folder = tempfile::tempdir().unwrap();
        let note = Note::within(Some(folder.path().to_owned()), "../../x");
        let (began, left) = ("2026-11-16T08:00:00Z".parse().unwrap(), BTreeSet::new());
        assert!(!note.write(began, &left));
        assert_eq!(note.read(), None);
        assert!(!Note::within(None, "a").write(began, &left));
    }
}
