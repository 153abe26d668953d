//! Response bodies: forwarded as they arrive; those of watches can be held back or ended.

use super::Watches;
use anyhow::{Context as _, Result};
use bytes::Bytes;
use futures::StreamExt as _;
use futures::stream::{self, BoxStream};
use http::Response;
use http_body_util::{BodyDataStream, StreamBody};
use hyper::body::{Frame, Incoming};
use tokio::sync::watch;

/// The body of a response.
pub(super) type ResponseBody = StreamBody<BoxStream<'static, Result<Frame<Bytes>>>>;

/// A response of the proxy itself, with this status code.
pub(super) fn fixed(code: u16) -> Result<Response<ResponseBody>> {
    let status = format!(
        r#"{{"kind":"Status","apiVersion":"v1","metadata":{{}},"status":"Failure","message":"the proxy says so","code":{code}}}"#
    );
    let once = stream::once(async move { Ok(Frame::data(Bytes::from(status))) });
    let response = Response::builder().status(code).header("content-type", "application/json");
    response.body(StreamBody::new(once.boxed())).context("make an answer")
}

/// Forwards the body of the API server's response. `watches` is given for a watch, and says when its lines wait and when it ends.
pub(super) fn streamed(incoming: Incoming, watches: Option<watch::Receiver<Watches>>) -> ResponseBody {
    let chunks = BodyDataStream::new(incoming);
    let begun = watches.as_ref().map(|watches| watches.borrow().broken);
    let frames = stream::unfold((chunks, watches), move |(mut chunks, mut watches)| async move {
        let chunk = match watches.as_mut() {
            None => chunks.next().await,
            Some(watches) => {
                let mut broken = watches.clone();
                tokio::select! {
                    biased;
                    _ = broken.wait_for(|now| Some(now.broken) != begun) => None,
                    chunk = async {
                        let chunk = chunks.next().await;
                        // An error means that the proxy is gone; then the chunk is forwarded.
                        let _ = watches.wait_for(|now| !now.is_held).await;
                        chunk
                    } => chunk,
                }
            }
        };
        let frame = chunk?.map(Frame::data).context("pass an answer on");
        Some((frame, (chunks, watches)))
    });
    StreamBody::new(frames.boxed())
}
