//! Tells that something in the cluster has changed, for `--watch`: by watches of the API server. What has changed is read anew by
//! the caller. Entry point: [`Changes`].

use crate::api::{self, METADATA};
use crate::connect::Session;
use crate::error::Failure;
use crate::reader::readable;
use crate::ui::printer;
use futures::stream::{self, BoxStream, SelectAll, StreamExt as _};
use futures::{FutureExt as _, TryStreamExt as _};
use std::time::Duration;
use tokio::time::Instant;

/// The shortest pause between two reads.
const PAUSE: Duration = Duration::from_millis(250);

/// The pause is at least this many times as long as the read before.
const PAUSE_FACTOR: u32 = 4;

/// Watches of some kinds.
pub(crate) struct Changes {
    watches: SelectAll<BoxStream<'static, Result<(), Failure>>>,
    /// When the last read began.
    read: Instant,
}

/// One watch, which is begun anew when the server ends it.
struct Watch {
    session: Session,
    path: String,
    lines: Option<BoxStream<'static, std::io::Result<String>>>,
}

impl Changes {
    /// Begins to watch the kinds at these paths. Read them afterwards, so that no change is missed. A kind that the caller may not
    /// watch is left out with a warning.
    pub(crate) async fn begin(session: &Session, paths: &[&str]) -> Result<Self, Failure> {
        let mut watches = SelectAll::new();
        for path in paths {
            let watch = Watch { session: session.clone(), path: (*path).to_owned(), lines: None };
            match watch.open().await? {
                Some(watch) => {
                    let changes = stream::try_unfold(watch, |watch| watch.next());
                    watches.push(changes.boxed());
                }
                None => printer::warn(&format!("changes are not seen: needs list and watch of {path}")),
            }
        }
        Ok(Self { watches, read: Instant::now() })
    }

    /// Waits for the next change, at most for `limit`. Changes that follow each other quickly are one.
    pub(crate) async fn next(&mut self, limit: Option<Duration>) -> Result<(), Failure> {
        tokio::time::sleep(PAUSE.max(self.read.elapsed() * PAUSE_FACTOR)).await;
        match limit {
            Some(limit) => {
                if let Ok(change) = tokio::time::timeout(limit, self.change()).await {
                    change?;
                }
            }
            None => self.change().await?,
        }
        while let Some(more) = self.watches.try_next().now_or_never() {
            if more?.is_none() {
                break;
            }
        }
        self.read = Instant::now();
        Ok(())
    }

    async fn change(&mut self) -> Result<(), Failure> {
        match self.watches.try_next().await? {
            Some(()) => Ok(()),
            // Nothing can be watched.
            None => std::future::pending().await,
        }
    }
}

impl Watch {
    /// Begins the watch at the newest state; `None` if the caller may not watch this kind.
    async fn open(mut self) -> Result<Option<Self>, Failure> {
        let failed =
            |error: api::ApiError| error.into_failure("watch", &format!("list, watch {}", self.path));
        let first = api::get(&self.session, &format!("{}?limit=1", self.path), METADATA).await;
        let Some(first) = readable(first).map_err(failed)? else { return Ok(None) };
        let page = common::api::list::page(&first.text).map_err(|error| failed(api::broken(error)))?;
        let path = format!("{}?watch=true&resourceVersion={}", self.path, page.resource_version);
        let lines = readable(api::lines(&self.session, &path).await).map_err(failed)?;
        self.lines = lines;
        Ok(self.lines.is_some().then_some(self))
    }

    /// Waits for a change. A watch that ended is begun anew, which counts as a change, because some may have been missed.
    async fn next(mut self) -> Result<Option<((), Self)>, Failure> {
        let line = match &mut self.lines {
            Some(lines) => lines.next().await,
            None => None,
        };
        match line {
            Some(Ok(line)) if !line.starts_with(r#"{"type":"ERROR""#) => Ok(Some(((), self))),
            _ => {
                tokio::time::sleep(PAUSE).await;
                Ok(self.open().await?.map(|watch| ((), watch)))
            }
        }
    }
}
