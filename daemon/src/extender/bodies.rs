//! Reads the bodies of requests, with limits: on each body, on all bodies in memory, and on the time.

use super::serve::Failure;
use bytes::Bytes;
use http::StatusCode;
use http_body_util::BodyExt as _;
use hyper::body::Body;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The most bytes of one body: enough for five thousand whole nodes.
pub(super) const BODY_LEN_MAX: usize = 128 << 20;

/// The most bytes of all bodies in memory: two of the longest, for two schedulers.
const SUM_MAX: usize = 2 * BODY_LEN_MAX;

/// Bytes are counted in pieces of this size, at least one for each body. So the semaphore is used once for each piece and not
/// for each packet.
const PIECE: usize = 64 << 10;

/// How long a body may take to arrive, including the time that it waits for memory.
const READ_MAX: Duration = Duration::from_secs(3);

pub(crate) struct Bodies {
    pieces: Arc<Semaphore>,
    body_len_max: usize,
}

/// A body in memory. Its bytes count until this is dropped.
pub(super) struct RequestBody {
    pub(super) bytes: Vec<u8>,
    pieces: OwnedSemaphorePermit,
}

impl Default for Bodies {
    fn default() -> Self {
        Self::new(BODY_LEN_MAX, SUM_MAX)
    }
}

impl Bodies {
    /// Memory for bodies of up to `body_len_max` bytes, and of up to `sum_max` bytes in all.
    pub(super) fn new(body_len_max: usize, sum_max: usize) -> Self {
        Self { pieces: Arc::new(Semaphore::new(sum_max.div_ceil(PIECE))), body_len_max }
    }

    /// Reads a body. Only bytes that have arrived count: a client that announces a long body takes nothing from others.
    pub(super) async fn read<B>(&self, body: B) -> Result<RequestBody, Failure>
    where
        B: Body<Data = Bytes>,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let too_large = || {
            let why = format!("a question has at most {} bytes", self.body_len_max);
            (StatusCode::PAYLOAD_TOO_LARGE, why)
        };
        if body.size_hint().lower() > u64::try_from(self.body_len_max).unwrap_or(u64::MAX) {
            return Err(too_large());
        }
        let reading = async {
            let mut body = std::pin::pin!(body);
            let mut read = RequestBody { bytes: Vec::new(), pieces: self.pieces(1).await? };
            while let Some(frame) = body.frame().await {
                let frame = frame.map_err(|error| (StatusCode::BAD_REQUEST, error.into().to_string()))?;
                let Ok(data) = frame.into_data() else { continue };
                let len = read.bytes.len() + data.len();
                if len > self.body_len_max {
                    return Err(too_large());
                }
                let more = len.div_ceil(PIECE).saturating_sub(read.pieces.num_permits());
                if more > 0 {
                    read.pieces.merge(self.pieces(more).await?);
                }
                read.bytes.extend_from_slice(&data);
            }
            Ok(read)
        };
        let late = || {
            let why = "the question did not arrive in time, or other questions took all the memory there is";
            (StatusCode::SERVICE_UNAVAILABLE, why.to_owned())
        };
        tokio::time::timeout(READ_MAX, reading).await.unwrap_or_else(|_| Err(late()))
    }

    async fn pieces(&self, count: usize) -> Result<OwnedSemaphorePermit, Failure> {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let pieces = Arc::clone(&self.pieces).acquire_many_owned(count).await;
        // The semaphore is never closed.
        pieces.map_err(|_| (StatusCode::INTERNAL_SERVER_ERROR, "a fault in the extender".to_owned()))
    }
}
