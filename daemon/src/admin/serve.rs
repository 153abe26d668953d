//! From connections to requests. A connection is authenticated once its user was shown something that is not for everybody
//! ([`Site::answer`]).

use super::answer::{Peer, Site};
use super::tls::Tls;
use crate::connections::{self, Limits, Slot};
use bytes::Bytes;
use http_body_util::Full;
use std::sync::Arc;
use tokio::net::{TcpListener, TcpStream};

/// Serves for ever.
pub(super) async fn serve(listener: &TcpListener, tls: &Tls, site: &Arc<Site>, limits: Limits) {
    let talk = |stream, slot| connection(stream, slot, tls, site, limits);
    connections::serve("health and metrics", listener, limits, talk).await;
}

async fn connection(stream: TcpStream, slot: Slot, tls: &Tls, site: &Arc<Site>, limits: Limits) {
    // Whatever goes wrong here is the client's affair: port scans and closed browsers are no news.
    let Ok(Ok(stream)) = tokio::time::timeout(limits.handshake, tls.accept(stream)).await else { return };
    let peer = Arc::new(Peer::new(stream.get_ref().1.peer_certificates(), slot));
    let answer = |request: http::Request<_>| {
        let (site, peer) = (Arc::clone(site), Arc::clone(&peer));
        async move {
            let (head, _body) = request.into_parts();
            site.answer(&head, &peer).await.map(|text| Full::new(Bytes::from(text)))
        }
    };
    connections::http(stream, limits, answer).await;
}
