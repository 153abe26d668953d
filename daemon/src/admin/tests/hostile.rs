//! Hostile clients, and certificates that change.

use super::{AdminTls, Limits, Script, blocking, parse, serving};
use crate::config::Certificate;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

#[tokio::test]
async fn nonsense_is_sent_away_and_others_are_served() {
    let server = Script::default().argument("--authentication-skip-lookup").start().await;
    let address = server.address;
    let answer = blocking(move || {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        answer
    })
    .await;
    assert!(!String::from_utf8_lossy(&answer).contains("ok"), "no word without TLS");
    let long = format!("GET /livez HTTP/1.1\r\nHost: x\r\nX: {}\r\n\r\n", "a".repeat(1 << 20));
    let many = format!("GET /livez HTTP/1.1\r\nHost: x\r\n{}\r\n", "A: b\r\n".repeat(5000));
    for bad in ["\r\n\r\n\0\0\0", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", &long, &many] {
        let answer = server.say(None, bad.as_bytes()).await;
        assert!(answer.is_empty() || parse(&answer).0 >= 400, "{:?}", answer.lines().next());
    }
    assert_eq!(server.get("/livez", &[]).await.0, 200);
}

#[tokio::test]
async fn only_reading_is_served() {
    let server = Script::default().argument("--authentication-skip-lookup").start().await;
    let post = "POST /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi";
    assert_eq!(parse(&server.say(None, post.as_bytes()).await).0, 405);
    let endless = "POST /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n";
    assert_eq!(parse(&server.say(None, endless.as_bytes()).await).0, 405, "nobody waits for the rest");
    let head = "HEAD /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    assert_eq!(parse(&server.say(None, head.as_bytes()).await), (200, String::new()));
}

#[tokio::test]
async fn who_says_nothing_makes_room_for_others() {
    let long = Duration::from_secs(600);
    let limits = Limits { connections: 2, handshake: long, head: long, ..Limits::default() };
    let server =
        Script { limits, ..Script::default() }.argument("--authentication-skip-lookup").start().await;
    let address = server.address;
    let _mute = blocking(move || TcpStream::connect(address).unwrap()).await;
    let _slow = server.send(None, b"GET /livez HTTP/1.1\r\nHo").await;
    // Both slots are in use. The oldest connection is closed.
    assert_eq!(server.get("/livez", &[]).await.0, 200);
}

#[tokio::test]
async fn a_handshake_that_is_not_done_in_time_ends() {
    let limits = Limits { handshake: Duration::from_millis(100), ..Limits::default() };
    let server =
        Script { limits, ..Script::default() }.argument("--authentication-skip-lookup").start().await;
    let address = server.address;
    let read = blocking(move || {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(super::PATIENCE)).unwrap();
        stream.read(&mut [0])
    });
    assert_eq!(read.await.unwrap(), 0, "the server hangs up");
}

#[tokio::test]
async fn a_certificate_that_changed_is_shown_and_half_a_change_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let [certificate, key] = ["a.crt", "a.key"].map(|name| dir.path().join(name));
    let write = |which: &[bool; 2]| {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        let _ = which[0].then(|| std::fs::write(&certificate, made.cert.pem()).unwrap());
        let _ = which[1].then(|| std::fs::write(&key, made.signing_key.serialize_pem()).unwrap());
    };
    write(&[true, true]);
    let flags = [("--tls-cert-file", &certificate), ("--tls-private-key-file", &key)];
    let flags = flags.map(|(flag, file)| format!("{flag}={}", file.display()));
    let tls = AdminTls::new(&serving(&flags)).unwrap();
    let first = tls.certificate();
    write(&[true, false]);
    tls.refresh();
    assert_eq!(tls.certificate(), first, "a certificate without its key");
    write(&[true, true]);
    tls.refresh();
    assert_ne!(tls.certificate(), first);
}

#[tokio::test]
async fn a_certificate_of_our_own_is_kept_in_the_folder() {
    let dir = tempfile::tempdir().unwrap();
    let flags = [format!("--cert-dir={}", dir.path().join("new").display())];
    assert_eq!(serving(&flags).certificate, Certificate::Folder(dir.path().join("new")));
    let first = AdminTls::new(&serving(&flags)).unwrap().certificate();
    assert_eq!(
        AdminTls::new(&serving(&flags)).unwrap().certificate(),
        first,
        "the next start shows the same"
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = dir.path().join("new/kube-scheduler.key").metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "nobody else reads the key");
    }
    let nowhere = [format!("--cert-dir={}", dir.path().join("new/kube-scheduler.key").display())];
    assert!(
        AdminTls::new(&serving(&nowhere)).is_ok(),
        "a folder that cannot be written is no reason not to start"
    );
}

#[test]
fn cipher_suites() {
    let with = |names: &str| AdminTls::new(&serving(&[format!("--tls-cipher-suites={names}")]));
    assert!(with("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_RSA_WITH_AES_128_CBC_SHA").is_ok());
    assert!(with("ROT13").is_err());
}
