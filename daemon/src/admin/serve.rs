//! Serves HTTPS connections. [`AdminHandler::answer`] marks a connection as authenticated when its user has read a page that
//! is not for everybody.

use super::answer::{AdminHandler, Peer};
use super::tls::AdminTls;
use crate::connections::{self, Limits, Slot};
use bytes::Bytes;
use http_body_util::Full;
use std::sync::Arc;
use tokio::net::{TcpListener, TcpStream};

pub(super) async fn serve(
    listener: &TcpListener,
    tls: &AdminTls,
    handler: &Arc<AdminHandler>,
    limits: Limits,
) {
    let handle_connection = |stream, slot| connection(stream, slot, tls, handler, limits);
    connections::serve("health and metrics", listener, limits, handle_connection).await;
}

async fn connection(
    stream: TcpStream,
    slot: Slot,
    tls: &AdminTls,
    handler: &Arc<AdminHandler>,
    limits: Limits,
) {
    // Failed handshakes are not logged: port scans and closed browsers are normal.
    let Ok(Ok(stream)) = tokio::time::timeout(limits.handshake, tls.accept(stream)).await else { return };
    let peer = Arc::new(Peer::new(stream.get_ref().1.peer_certificates(), slot));
    let answer = |request: http::Request<_>| {
        let (handler, peer) = (Arc::clone(handler), Arc::clone(&peer));
        async move {
            let (head, _body) = request.into_parts();
            handler.answer(&head, &peer).await.map(|text| Full::new(Bytes::from(text)))
        }
    };
    connections::http(stream, limits, answer).await;
}
